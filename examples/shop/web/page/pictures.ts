import type { Product } from '../../catalog/contract.ts'

/** Drawings of 100 by 100 in three tones of a product's hue: `a` light, `b` medium, `c` dark. */
const drawings: Readonly<Record<Product['picture'], string>> = {
  lamp: '<path class="a" d="M34 18h32l12 30H22z"/><path class="c" d="M48 48h4v30h-4z"/><path class="b" d="M34 78h32v6H34z"/>',
  chair:
    '<path class="b" d="M34 14h32v34H34z"/><path class="a" d="M28 50h44v10H28z"/><path class="c" d="M30 60h5v26h-5zM65 60h5v26h-5z"/>',
  mug: '<path class="a" d="M26 32h40v40a12 12 0 0 1-12 12H38a12 12 0 0 1-12-12z"/><path class="c ring" d="M66 42h6a9 9 0 0 1 0 22h-6"/><path class="b" d="M26 32h40v9H26z"/>',
  vase: '<path class="a" d="M42 40h16c0 10 14 14 14 30 0 12-8 16-22 16s-22-4-22-16c0-16 14-20 14-30z"/><path class="c" d="M49 12h3v28h-3z"/><circle class="b" cx="50" cy="14" r="8"/>',
  clock:
    '<circle class="a" cx="50" cy="50" r="36"/><circle class="b" cx="50" cy="50" r="29"/><path class="c ring" d="M50 30v20l14 9"/>',
  plant:
    '<path class="c" d="M32 62h36l-5 26H37z"/><path class="a" d="M50 62C50 40 30 36 22 38c2 16 14 24 28 24z"/><path class="b" d="M50 62c0-26 16-40 28-42 2 22-8 40-28 42z"/>',
  shelf:
    '<path class="a" d="M16 46h68v8H16z"/><path class="c" d="M24 54h5v20h-5zM71 54h5v20h-5z"/><path class="b" d="M26 22h8v24h-8zM36 28h7v18h-7zM58 26h18v20H58z"/>',
  bowl: '<path class="a" d="M16 44h68a34 34 0 0 1-68 0z"/><path class="b" d="M16 44h68v8H17z"/><path class="c" d="M40 78h20v6H40z"/>',
}

export function drawingOf({ picture, hue, name }: Product): SVGElement {
  const svg = document.createElementNS('http://www.w3.org/2000/svg', 'svg')
  svg.setAttribute('viewBox', '0 0 100 100')
  svg.setAttribute('role', 'img')
  svg.setAttribute('aria-label', name)
  svg.style.setProperty('--hue', String(hue))
  svg.innerHTML = drawings[picture]
  return svg
}
