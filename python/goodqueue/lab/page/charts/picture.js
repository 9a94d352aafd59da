// @ts-check
// Pictures as files, each with the sentence that says where it comes from.

/** Pixels of a file for each CSS pixel. */
const RATIO = 2;

/** What the charts of the page show, in words: the settings and the program. The page sets it. */
export const source = { text: "" };

/** Returns a picture in SVG as PNG, with two pixels for each of its own.
 * @param {string} svg @returns {Promise<Blob>} */
export async function pngOf(svg) {
  const image = new Image();
  image.src = `data:image/svg+xml,${encodeURIComponent(svg)}`;
  await image.decode();
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [RATIO * image.naturalWidth, RATIO * image.naturalHeight];
  const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
  context.drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((resolve) => canvas.toBlob((blob) => resolve(/** @type {Blob} */ (blob))));
}
