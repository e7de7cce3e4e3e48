// Painted rectangles in space: the sides of boxes, turned about a point.

// {side: its corners as seen from outside, from the upper left clockwise; 0 takes `from`, 1 takes `to`, for x, y, z}
const SIDES = {
  north: [[1, 1, 0], [0, 1, 0], [0, 0, 0], [1, 0, 0]],
  south: [[0, 1, 1], [1, 1, 1], [1, 0, 1], [0, 0, 1]],
  west: [[0, 1, 0], [0, 1, 1], [0, 0, 1], [0, 0, 0]],
  east: [[1, 1, 1], [1, 1, 0], [1, 0, 0], [1, 0, 1]],
  up: [[0, 1, 0], [1, 1, 0], [1, 1, 1], [0, 1, 1]],
  down: [[0, 0, 1], [1, 0, 1], [1, 0, 0], [0, 0, 0]],
};

/** {side: how much light it has, from 0 to 1}. */
export const LIGHT = { up: 1, south: 0.9, north: 0.9, east: 0.75, west: 0.75, down: 0.6 };

/**
 * The sides of a box.
 *
 * @param {{from: number[], to: number[], turns?: Array<{axis: 0|1|2, degrees: number, origin: number[]}>}} box `turns`
 *   are made in order.
 * @param {Record<string, {image: string|null, uv?: number[], rotation?: number}>} paints {side: which picture, which part
 *   of it (left, top, right, bottom, from 0 to 1), turned by so many degrees}; sides that are not named are not there.
 * @returns {Array<{corners: number[][], image: string|null, uv: number[], light: number}>} `corners` are those of the
 *   picture's part: upper left, upper right, lower right, lower left.
 */
export function sidesOf({ from, to, turns = [] }, paints) {
  return Object.entries(paints).map(([side, { image, uv = [0, 0, 1, 1], rotation = 0 }]) => {
    const corners = SIDES[side].map((ends) => turned(ends.map((end, axis) => (end ? to : from)[axis]), turns));
    const shift = Math.round(rotation / 90) % 4;
    return { corners: corners.map((_, at) => corners[(at + shift) % 4]), image, uv, light: LIGHT[side] };
  });
}

/** A point after turns about axes, each through its origin. */
export function turned(point, turns) {
  return turns.reduce(([...at], { axis, degrees, origin }) => {
    const [one, other] = [(axis + 1) % 3, (axis + 2) % 3];
    const [sine, cosine] = [Math.sin((degrees * Math.PI) / 180), Math.cos((degrees * Math.PI) / 180)];
    const [a, b] = [at[one] - origin[one], at[other] - origin[other]];
    at[one] = origin[one] + a * cosine - b * sine;
    at[other] = origin[other] + a * sine + b * cosine;
    return at;
  }, point);
}
