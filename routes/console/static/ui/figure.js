// A person of boxes that wears a cape, to see a texture on before it is uploaded.
import { useEffect, useState } from "preact/hooks";
import { html } from "../html.js";
import { say } from "../words.js";
import { sidesOf } from "./faces.js";
import { ModelView } from "./model-view.js";

const plain = Object.fromEntries(["north", "south", "west", "east", "up", "down"].map((side) => [side, { image: null }]));

const BODY = [
  { from: [-4, 24, -4], to: [4, 32, 4] },
  { from: [-4, 12, -2], to: [4, 24, 2] },
  { from: [-8, 12, -2], to: [-4, 24, 2] },
  { from: [4, 12, -2], to: [8, 24, 2] },
  { from: [-4, 0, -2], to: [0, 12, 2] },
  { from: [0, 0, -2], to: [4, 12, 2] },
].flatMap((box) => sidesOf(box, plain));

// Where the sides of a cape are in a texture of 64 × 32.
const part = (left, top, right, bottom) => ({ image: "cape", uv: [left / 64, top / 32, right / 64, bottom / 32] });
const CAPE = sidesOf({ from: [-5, 8, 2.5], to: [5, 24, 3.5], turns: [{ axis: 0, degrees: -8, origin: [0, 24, 2.5] }] }, {
  south: part(1, 1, 11, 17), north: part(12, 1, 22, 17), west: part(0, 1, 1, 17), east: part(11, 1, 12, 17), up: part(1, 0, 11, 1), down: part(11, 0, 21, 1),
});

const FACES = [...BODY, ...CAPE];

/** @param {{file: Blob}} props a PNG; nothing is shown for what is none. */
export function CapeFigure({ file }) {
  const [images, setImages] = useState(null);
  useEffect(() => {
    let isGone = false;
    createImageBitmap(file).then((cape) => { if (!isGone) setImages({ cape }); }, () => setImages(null));
    return () => { isGone = true; };
  }, [file]);
  return images && html`<${ModelView} faces=${FACES} images=${images} label=${say("capes.figure")} yaw=${-25} />`;
}
