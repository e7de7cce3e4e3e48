// What a browser calls itself, in two words that a person knows. Most claim to be others too: the first rule that fits counts.

const BROWSERS = [
  [/\b(?:Edg|EdgA|EdgiOS)\/(\d+)/, "Edge"],
  [/\b(?:OPR|OPiOS)\/(\d+)/, "Opera"],
  [/\bVivaldi\/(\d+)/, "Vivaldi"],
  [/\bSamsungBrowser\/(\d+)/, "Samsung Internet"],
  [/\bYaBrowser\/(\d+)/, "Yandex"],
  [/\bElectron\/(\d+)/, "Electron"],
  [/\b(?:Firefox|FxiOS)\/(\d+)/, "Firefox"],
  [/\bHeadlessChrome\/(\d+)/, "Chrome"],
  [/\bChromium\/(\d+)/, "Chromium"],
  [/\b(?:Chrome|CriOS)\/(\d+)/, "Chrome"],
  [/\bVersion\/(\d+)[\d.]* (?:Mobile\/\w+ )?Safari\//, "Safari"],
];

const SYSTEMS = [
  [/\biPad\b/, "iPad"],
  [/\biPhone\b/, "iPhone"],
  [/\bAndroid\b/, "Android"],
  [/\bCrOS\b/, "ChromeOS"],
  [/\bWindows\b/, "Windows"],
  [/\bMac OS X\b|\bMacintosh\b/, "macOS"],
  [/\bLinux\b|\bX11\b/, "Linux"],
];

/**
 * @param {string} said as it is sent in `User-Agent`, perhaps cut.
 * @returns {{browser: string, system: string}|null} the browser with its version; null where either is not known.
 */
export function browserOf(said) {
  const [found, name] = firstOf(BROWSERS, said);
  const [onSystem, system] = firstOf(SYSTEMS, said);
  return found && onSystem ? { browser: `${name} ${found[1]}`, system } : null;
}

function firstOf(rules, said) {
  for (const [pattern, name] of rules) {
    const found = pattern.exec(said);
    if (found) return [found, name];
  }
  return [null, null];
}
