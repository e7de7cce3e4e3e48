// A picture to draw a cape on, as a file: the outside, the inside beside it, and the edges around them.
const PARTS = [[1, 1, 10, 16, "#7fc4ba"], [12, 1, 10, 16, "#b7d8d3"], [0, 1, 1, 16, "#e6c884"], [11, 1, 1, 16, "#e6c884"], [1, 0, 20, 1, "#e6c884"]];

/** Have the browser save the template. Resolves with the address that it reads from: whoever has it revokes it. */
export async function saveCapeTemplate() {
  const canvas = new OffscreenCanvas(64, 32);
  const pen = canvas.getContext("2d");
  for (const [left, top, width, height, colour] of PARTS) {
    pen.fillStyle = colour;
    pen.fillRect(left, top, width, height);
  }
  const address = URL.createObjectURL(await canvas.convertToBlob({ type: "image/png" }));
  Object.assign(document.createElement("a"), { href: address, download: "cape.png" }).click();
  return address;
}
