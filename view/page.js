// What a knuckle page does beyond meshcat: it builds solids, puts moments on the screen, and plays films.
// Messages come from the page itself, from a web socket, or from the window around it; all are the same.
"use strict";
const knuckle = (() => {
  const THREE = MeshCat.THREE;
  const viewer = new MeshCat.Viewer(document.getElementById("meshcat-pane"));
  const meshes = new Map();   // key of a mesh: its geometry
  const marked = new Map();   // path of a solid that shows only when marked: its material
  const errors = [];

  // meshcat keeps what hangs in its tree in plain objects: names that mean something there get a mark nobody sees
  const taken = (name, depth) => name in {} || name[0] === "\u200b" || name === "<object>" ||
    (depth === 0 && ["Axes", "Grid", "Background", "Cameras", "Lights"].includes(name));
  const split = (path) => path.split("/").map((name, depth) => taken(name, depth) ? "\u200b" + name : name);

  viewer.set_property(["Background"], "top_color", [1, 1, 1]);
  viewer.set_property(["Background"], "bottom_color", [0.9, 0.92, 0.95]);
  viewer.set_property(["Axes"], "visible", false);
  viewer.camera.fov = 40;
  viewer.camera.updateProjectionMatrix();

  function numbers(text, Kind) {
    const raw = atob(text), bytes = new Uint8Array(raw.length);
    for (let k = 0; k < raw.length; k++) bytes[k] = raw.charCodeAt(k);
    return new Kind(bytes.buffer);
  }

  function mesh(message) {
    if (meshes.has(message.key)) return;
    const geometry = new THREE.BufferGeometry();
    geometry.setAttribute("position", new THREE.BufferAttribute(numbers(message.positions, Float32Array), 3));
    geometry.setAttribute("normal", new THREE.BufferAttribute(numbers(message.normals, Float32Array), 3));
    geometry.setIndex(new THREE.BufferAttribute(numbers(message.triangles, Uint32Array), 1));
    meshes.set(message.key, geometry);
  }

  function paint(material, colour) {
    material.color.setRGB(colour[0], colour[1], colour[2]);
    material.opacity = colour[3];
    material.transparent = colour[3] < 1 || !material.depthTest;
    material.depthWrite = colour[3] >= 1;
    material.needsUpdate = true;
  }

  function solid(message) {
    const material = new THREE.MeshPhongMaterial({side: THREE.DoubleSide, specular: 0x222222, shininess: 25});
    paint(material, message.colour);
    if (message.marked) Object.assign(material, {polygonOffset: true, polygonOffsetFactor: -2, polygonOffsetUnits: -2});
    if (message.in_front) Object.assign(material, {depthTest: false, transparent: true});
    const thing = new THREE.Mesh(meshes.get(message.mesh), material);  // three.js uploads what was disposed of again
    thing.renderOrder = message.in_front ? 2 : message.marked ? 1 : 0;
    thing.name = "<object>";
    const path = split(message.path);
    viewer.set_object(path, thing);
    if (message.pose) viewer.set_transform(path, message.pose);
    viewer.set_property(path, "visible", message.visible && !message.marked);
    if (message.marked) marked.set(message.path, material);
  }

  function show(poses, marks) {
    for (const path in poses) viewer.set_transform(split(path), poses[path]);
    for (const [path, material] of marked) {
      const colour = marks[path];
      viewer.set_property(split(path), "visible", colour !== undefined);
      if (colour !== undefined) paint(material, colour);
    }
    viewer.set_dirty();
  }

  function remove(path) {
    for (const other of [...marked.keys()]) {
      if (other === path || other.startsWith(path + "/")) marked.delete(other);
    }
    viewer.delete_path(split(path));
    viewer.set_dirty();
  }

  // lines in pieces, one a cell: software that draws them loses a whole line where one end is behind the camera
  function ground(cell, at) {
    const points = [], colours = [], count = 20, half = count / 2;
    for (let row = -half; row <= half; row++) {
      for (let k = -half; k < half; k++) {
        points.push(k, row, 0, k + 1, row, 0, row, k, 0, row, k + 1, 0);
        for (let corner = 0; corner < 4; corner++) colours.push(...(row === 0 ? [0.6, 0.6, 0.6] : [0.8, 0.8, 0.8]));
      }
    }
    const geometry = new THREE.BufferGeometry();
    geometry.setAttribute("position", new THREE.Float32BufferAttribute(points, 3));
    geometry.setAttribute("color", new THREE.Float32BufferAttribute(colours, 3));
    viewer.set_object(["Grid"], new THREE.LineSegments(geometry, new THREE.LineBasicMaterial({vertexColors: true})));
    const [x, y] = [0, 1].map((axis) => cell * Math.round(at[axis] / cell));  // on the lines of the world's grid
    viewer.set_transform(["Grid"], [cell, 0, 0, 0, 0, cell, 0, 0, 0, 0, cell, 0, x, y, 0, 1]);
  }

  // the page's axes are x, z, -y of the robot's world
  function camera(message) {
    const at = message.target;
    // what is to be seen whole fits into a square; a window that is taller than wide sees it from farther away
    const away = message.fits ? Math.max(1, 1 / viewer.camera.aspect) : 1;
    const eye = message.eye.map((x, axis) => at[axis] + away * (x - at[axis]));
    viewer.controls.target.set(at[0], at[2], -at[1]);
    viewer.camera.position.set(eye[0], eye[2], -eye[1]);
    viewer.camera.near = message.near;
    viewer.camera.far = message.far;
    viewer.camera.updateProjectionMatrix();
    ground(message.cell, at);
    viewer.set_dirty();
  }

  // playback

  const bar = document.getElementById("film"), slider = document.getElementById("time");
  const clock = document.getElementById("clock"), button = document.getElementById("play");
  const speed = document.getElementById("speed");
  let film = null, playing = false, last = 0;
  const parts = () => ({p: new THREE.Vector3(), r: new THREE.Quaternion(), s: new THREE.Vector3()});
  const A = parts(), B = parts(), M = new THREE.Matrix4();

  function load(message) {
    const rows = numbers(message.poses, Float32Array);
    film = {times: message.times, paths: message.paths, rows, marks: message.marks, time: 0};
    const end = film.times[film.times.length - 1];
    slider.max = end;
    slider.step = Math.max(end / 2000, 1e-4);
    if (![...speed.options].some(option => Number(option.value) === message.speed))
      speed.add(new Option(`${message.speed}x`, message.speed));
    speed.value = String(message.speed);
    bar.style.display = "flex";
    seek(0);
    playing = message.play;
    button.textContent = playing ? "❚❚" : "▶";
  }

  function matrix(index, place, into) {
    const k = 12 * (index * film.paths.length + place), r = film.rows;
    M.set(r[k], r[k + 3], r[k + 6], r[k + 9], r[k + 1], r[k + 4], r[k + 7], r[k + 10],
          r[k + 2], r[k + 5], r[k + 8], r[k + 11], 0, 0, 0, 1);
    M.decompose(into.p, into.r, into.s);
  }

  function seek(time) {
    const times = film.times, last = times.length - 1;
    film.time = Math.min(Math.max(time, 0), times[last]);
    let low = 0, high = last;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (times[middle] <= film.time) low = middle; else high = middle;
    }
    if (last > 0 && film.time >= times[last]) low = high = last;
    const part = high > low ? (film.time - times[low]) / (times[high] - times[low]) : 0;
    const poses = {};
    film.paths.forEach((path, place) => {
      matrix(low, place, A);
      if (part > 0) {
        matrix(high, place, B);
        A.p.lerp(B.p, part); A.r.slerp(B.r, part); A.s.lerp(B.s, part);
      }
      poses[path] = M.compose(A.p, A.r, A.s).toArray();
    });
    show(poses, film.marks[low]);
    slider.value = film.time;
    clock.textContent = film.time.toFixed(2) + " s / " + times[last].toFixed(2) + " s";
  }

  function tick(now) {
    const step = Math.min((now - last) / 1000, 0.1);
    last = now;
    if (playing && film) {
      const end = film.times[film.times.length - 1];
      const next = film.time + step * Number(speed.value);
      seek(next > end ? 0 : next);
    }
    requestAnimationFrame(tick);
  }

  function play(on) {
    playing = on;
    button.textContent = on ? "❚❚" : "▶";
  }

  button.addEventListener("click", () => play(!playing));
  slider.addEventListener("input", () => { play(false); seek(Number(slider.value)); });

  function stop() {
    film = null;
    playing = false;
    bar.style.display = "none";
  }

  // messages

  const reactions = {
    mesh, solid, camera, stop,
    film: load,
    moment: (message) => show(message.poses, message.marks),
    remove: (message) => remove(message.path),
    image: (message, reply) => reply({type: "image", number: message.number, data: viewer.capture_image()}),
  };

  function handle(messages, reply) {
    for (const message of messages) {
      try {
        reactions[message.type](message, reply);
      } catch (error) {
        errors.push(String(error));
        console.error(message.type, error);
      }
    }
    viewer.set_dirty();
  }

  function connect(url) {
    const socket = new WebSocket(url);
    socket.onmessage = (event) => {
      handle(JSON.parse(event.data), (answer) => socket.send(JSON.stringify(answer)));
    };
    socket.onclose = () => { document.getElementById("gone").style.display = "block"; };
  }

  window.addEventListener("message", (event) => {
    if (event.source === window.parent && event.data && event.data.knuckle) handle(event.data.knuckle, () => {});
  });
  requestAnimationFrame(tick);
  return {viewer, handle, connect, seek: (time) => { play(false); seek(time); }, errors, film: () => film};
})();
