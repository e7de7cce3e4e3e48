// A model of painted rectangles on a canvas, turned by buttons, arrow keys and dragging. Seen from far away a rectangle
// is a parallelogram, so a canvas can paint each by itself; what is farther is painted first.
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { html } from "../html.js";
import { say } from "../words.js";
import { turned } from "./faces.js";

const SIZE_PX = 220;
const STEP_DEGREES = 30;
const PITCH_DEGREES = 20;
const PLAIN = [150, 158, 170];

/**
 * @param {{faces: any[], images: Record<string, ImageBitmap>, label: string, yaw?: number}} props `faces` as `sidesOf`
 *   makes them; what has no picture is painted grey. `yaw` in degrees is where it begins.
 */
export function ModelView({ faces, images, label, yaw: first = 35 }) {
  const canvas = useRef(null);
  const [yaw, setYaw] = useState(first);
  // Before the browser shows the canvas: an effect of another kind would leave it empty for a frame.
  useLayoutEffect(() => { paint(canvas.current, faces, images, yaw); }, [faces, images, yaw]);
  const press = (event) => {
    const step = { ArrowLeft: -STEP_DEGREES, ArrowRight: STEP_DEGREES }[event.key];
    if (!step) return;
    event.preventDefault();
    setYaw(yaw + step);
  };
  const drag = (event) => { if (event.buttons === 1) setYaw(yaw + event.movementX); };
  return html`<figure class="model" onKeyDown=${press}>
    <canvas ref=${canvas} width=${SIZE_PX * 2} height=${SIZE_PX * 2} role="img" aria-label=${label} onPointerMove=${drag}></canvas>
    <figcaption><button type="button" aria-label=${say("model.left")} onClick=${() => setYaw(yaw - STEP_DEGREES)}>↺</button>
      <button type="button" aria-label=${say("model.right")} onClick=${() => setYaw(yaw + STEP_DEGREES)}>↻</button></figcaption></figure>`;
}

function paint(canvas, faces, images, yaw) {
  const context = canvas.getContext("2d");
  context.setTransform(1, 0, 0, 1, 0, 0);
  context.clearRect(0, 0, canvas.width, canvas.height);
  context.imageSmoothingEnabled = false;
  const { centre, radius } = extentOf(faces);
  const scale = (canvas.width / 2 / radius) * 0.95;
  const turns = [{ axis: 1, degrees: yaw, origin: centre }, { axis: 0, degrees: PITCH_DEGREES, origin: centre }];
  const seen = faces.map((face) => {
    const corners = face.corners.map((corner) => turned(corner, turns));
    const points = corners.map(([x, y]) => [canvas.width / 2 + (x - centre[0]) * scale, canvas.height / 2 - (y - centre[1]) * scale]);
    return { ...face, points, depth: corners.reduce((sum, [, , z]) => sum + z, 0) / corners.length };
  });
  for (const face of seen.sort((one, other) => one.depth - other.depth)) {
    if (images[face.image] && face.points.length === 4) paintPicture(context, face, images[face.image]);
    else paintPlain(context, face);
  }
}

function paintPlain(context, { points, light }) {
  context.setTransform(1, 0, 0, 1, 0, 0);
  context.fillStyle = `rgb(${PLAIN.map((part) => Math.round(part * light)).join(" ")})`;
  context.beginPath();
  for (const point of points) context.lineTo(...point);
  context.fill();
}

function paintPicture(context, { points: [origin, right, , down], uv, light }, image) {
  const [u0, v0, u1, v1] = uv.map((part, at) => part * (at % 2 ? image.height : image.width));
  if (u0 === u1 || v0 === v1) return;
  const across = [0, 1].map((axis) => (right[axis] - origin[axis]) / (u1 - u0));
  const along = [0, 1].map((axis) => (down[axis] - origin[axis]) / (v1 - v0));
  const start = [0, 1].map((axis) => origin[axis] - u0 * across[axis] - v0 * along[axis]);
  context.setTransform(...across, ...along, ...start);
  const part = [Math.min(u0, u1), Math.min(v0, v1), Math.abs(u1 - u0), Math.abs(v1 - v0)];
  context.drawImage(shaded(image, light), ...part, ...part);
}

const shades = new WeakMap(); // {image: {light: its darker copy}}

function shaded(image, light) {
  if (!shades.has(image)) shades.set(image, {});
  const known = shades.get(image);
  if (!known[light]) {
    const copy = new OffscreenCanvas(image.width, image.height);
    const context = copy.getContext("2d");
    context.drawImage(image, 0, 0);
    context.globalCompositeOperation = "source-atop";
    context.fillStyle = `rgb(0 0 0 / ${1 - light})`;
    context.fillRect(0, 0, image.width, image.height);
    known[light] = copy;
  }
  return known[light];
}

function extentOf(faces) {
  const low = [Infinity, Infinity, Infinity];
  const high = [-Infinity, -Infinity, -Infinity];
  for (const { corners } of faces) {
    for (const corner of corners) {
      for (const axis of [0, 1, 2]) {
        low[axis] = Math.min(low[axis], corner[axis]);
        high[axis] = Math.max(high[axis], corner[axis]);
      }
    }
  }
  const centre = low.map((part, axis) => (part + high[axis]) / 2);
  return { centre, radius: Math.max(1, Math.hypot(...high.map((part, axis) => part - centre[axis]))) };
}
