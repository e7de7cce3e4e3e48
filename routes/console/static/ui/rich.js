// What people write, drawn: a few signs of emphasis, code, links and mentions become elements; all else stays text.
import { html } from "../html.js";

const PIECES = /(\*\*[^*\n]+\*\*|(?<![\w*])\*[^*\s](?:[^*\n]*[^*\s])?\*(?![\w*])|`[^`\n]+`|<@user:[0-9a-f-]{36}>|https?:\/\/[^\s<>"']+)/;

/**
 * @param {string} text
 * @param {Array<{token: string, label: string}>} [mentions]
 */
export function rich(text, mentions = []) {
  return text.split(PIECES).map((piece) => {
    if (/^\*\*.+\*\*$/s.test(piece)) return html`<strong>${piece.slice(2, -2)}</strong>`;
    if (/^\*[^*]+\*$/.test(piece)) return html`<em>${piece.slice(1, -1)}</em>`;
    if (/^`.+`$/s.test(piece)) return html`<code>${piece.slice(1, -1)}</code>`;
    if (piece.startsWith("<@user:")) {
      const mention = mentions.find(({ token }) => token === piece);
      return mention ? html`<bdi class="mention">@${mention.label}</bdi>` : piece;
    }
    if (/^https?:\/\//.test(piece)) return html`<a href=${piece} target="_blank" rel="noopener noreferrer nofollow">${piece}</a>`;
    return piece;
  });
}
