// Totems as files: which format one is of, and what of it can be drawn. The service checks them; here anything that is
// not as expected is left out.
import { LIGHT, sidesOf, turned } from "../../ui/faces.js";

const PNG = /^data:image\/png;base64,/;
const AXES = ["x", "y", "z"];

/** The format of a model, by what its editor writes. */
export const formatOf = (model) => (model?.meta?.format_version ? "blockbench" : "minecraft-item-model");

/**
 * What of a model is drawn.
 *
 * @param {any} model as decoded from JSON.
 * @returns {Promise<{faces: any[], images: Record<string, ImageBitmap>}>}
 */
export async function drawn(model) {
  const read = formatOf(model) === "blockbench" ? ofBlockbench : ofItem;
  const { faces, sources } = read(model);
  const decoded = await Promise.all(Object.entries(sources).map(async ([name, source]) => [name, await bitmapOf(source)]));
  return { faces, images: Object.fromEntries(decoded.filter(([, image]) => image)) };
}

// A policy without `data:` in it: a picture is decoded by hand.
async function bitmapOf(source) {
  if (typeof source !== "string" || !PNG.test(source)) return null;
  try {
    const bytes = Uint8Array.from(atob(source.replace(PNG, "")), (sign) => sign.charCodeAt(0));
    return await createImageBitmap(new Blob([bytes], { type: "image/png" }));
  } catch {
    return null;
  }
}

function ofItem({ elements = [], textures = {} }) {
  const sources = Object.fromEntries(Object.keys(textures).map((name) => [name, resolved(textures, name)]));
  const faces = elements.flatMap(({ from, to, rotation, faces: sides = {} }) => {
    const paints = mapped(sides, (side, face) => ({
      image: face.texture?.replace(/^#/, "") ?? null, uv: (face.uv ?? uvOf(side, from, to)).map((one) => one / 16), rotation: face.rotation,
    }));
    return sidesOf({ from, to, turns: turnsOf(rotation) }, paints);
  });
  return { faces, sources };
}

function resolved(textures, name) {
  let value = textures[name];
  for (let steps = 0; typeof value === "string" && value.startsWith("#") && steps < 16; steps++) value = textures[value.slice(1)];
  return value;
}

// Without `uv` a side shows what lies at its place in a picture of 16 × 16.
function uvOf(side, [x0, y0, z0], [x1, y1, z1]) {
  switch (side) {
    case "north": return [16 - x1, 16 - y1, 16 - x0, 16 - y0];
    case "south": return [x0, 16 - y1, x1, 16 - y0];
    case "west": return [z0, 16 - y1, z1, 16 - y0];
    case "east": return [16 - z1, 16 - y1, 16 - z0, 16 - y0];
    case "up": return [x0, z0, x1, z1];
    default: return [x0, 16 - z1, x1, 16 - z0];
  }
}

function turnsOf(rotation) {
  if (!rotation) return [];
  const degrees = (axis) => (rotation.axis === axis ? rotation.angle : rotation[axis]) ?? 0;
  return AXES.map((axis, at) => ({ axis: at, degrees: degrees(axis), origin: rotation.origin })).filter((turn) => turn.degrees);
}

function ofBlockbench({ elements = [], textures = [], resolution = { width: 16, height: 16 } }) {
  const sources = {};
  const sizes = {};
  textures.forEach((texture, index) => {
    for (const name of [index, texture.id, texture.uuid]) {
      if (name === undefined || name === null) continue;
      sources[name] = texture.source;
      sizes[name] = [texture.uv_width ?? resolution.width, texture.uv_height ?? resolution.height];
    }
  });
  return { faces: elements.flatMap((element) => (element.type === "mesh" ? meshOf(element) : boxOf(element, sizes))), sources };
}

function boxOf({ from, to, origin = [0, 0, 0], rotation = [0, 0, 0], faces: sides }, sizes) {
  if (!from || !to || !sides) return [];
  const paints = mapped(sides, (_, face) => {
    const [width, height] = sizes[face.texture] ?? [16, 16];
    return { image: face.texture ?? null, uv: face.uv?.map((one, at) => one / (at % 2 ? height : width)), rotation: face.rotation };
  });
  return sidesOf({ from, to, turns: bones(rotation, origin) }, paints);
}

// A mesh has any shape: its faces are shown without their pictures.
function meshOf({ vertices = {}, faces = {}, origin = [0, 0, 0], rotation = [0, 0, 0] }) {
  const turns = bones(rotation, [0, 0, 0]);
  const at = (name) => turned(vertices[name], turns).map((part, axis) => part + origin[axis]);
  return Object.values(faces).map((face) => ({ corners: face.vertices.map(at), image: null, uv: [0, 0, 1, 1], light: LIGHT.south }));
}

const bones = (rotation, origin) => rotation.map((degrees, axis) => ({ axis, degrees, origin })).filter((turn) => turn.degrees);

const mapped = (sides, change) => Object.fromEntries(Object.entries(sides).filter(([side]) => side in LIGHT).map(([side, face]) => [side, change(side, face)]));
