// What lies over and under the data of one panel, as SVG: the frame, sky bands, gaps, windows, the second axis, the
// titles; labels.js has the names of lines. Drawn by ourselves because plotly spends a millisecond or two on each
// annotation and cannot put one outside the axes, clear of its neighbours.

import { number } from '../common/format.js'
import { t, withCommas } from '../common/language.js'
import { lowerBound, niceTicks } from './math.js'

const SVG = 'http://www.w3.org/2000/svg'
const STRIP = 6 // px: the sky at the foot of the data

/** An SVG element; text goes in as text. */
export function svg(tag, attributes = {}, ...children) {
  const element = document.createElementNS(SVG, tag)
  for (const [key, value] of Object.entries(attributes)) if (value !== undefined) element.setAttribute(key, value)
  element.append(...children.filter(Boolean))
  return element
}

/** Let an element of the page stand at a place of the data, as high as the frame. */
export const stand = ({ style }, { top, height }, /** @type {number} */ x) =>
  Object.assign(style, { transform: `translateX(${x}px)`, top: `${top}px`, height: `${height}px` })

export const round = (pixel) => Math.round(pixel * 10) / 10

/** A range of the axis in screen pixels, cut to the plot, at least `least` pixels wide; null if it is outside. */
function span(geometry, [lo, hi], least = 1) {
  const [a, b] = [geometry.x(lo), geometry.x(hi)]
  if (b < geometry.left || a > geometry.right) return null
  const middle = (a + b) / 2
  const from = Math.max(geometry.left, Math.min(a, middle - least / 2))
  const to = Math.min(geometry.right, Math.max(b, middle + least / 2))
  return { x: round(from), width: round(Math.max(0, to - from)) }
}

/** Sky lines, telluric bands and arm joins: a strip at the foot of the data, and, to be pointed at, in full height. */
export function skyBands(geometry, bands) {
  const marks = bands.flatMap((band, index) => {
    const at = span(geometry, band.span, 2)
    const rect = (kind, y, height) =>
      svg('rect', { class: `so-band so-${band.kind} ${kind}`, ...at, y, height, 'data-band': index })
    const [strip, whole] = [geometry.bottom - STRIP, geometry.height - STRIP]
    return at ? [rect('so-strip', strip, STRIP), rect('so-whole', geometry.top, whole)] : []
  })
  return svg('g', { class: 'so-skies' }, ...marks)
}

/** Hatching over ranges without data; marks at the bottom for pixels that the survey flags. */
export function gapMarks(geometry, gaps, masked) {
  const strokes = (stretches, y, height) =>
    merged(geometry, stretches)
      .map(([x, width]) => `M${x} ${y}h${width}v${height}h${-width}z`)
      .join('')
  const missing = strokes(gaps, geometry.top, geometry.height)
  const flagged = strokes(masked, geometry.bottom - STRIP - 4, 4)
  return svg(
    'g',
    { class: 'so-gaps' },
    missing && svg('path', { class: 'so-gap', d: missing, fill: `url(#${geometry.hatch})` }),
    flagged && svg('path', { class: 'so-masked', d: flagged }),
  )
}

/** Ranges in screen pixels; those that touch are joined: thousands of masked pixels become a few strokes. */
function merged(geometry, stretches) {
  const joined = []
  for (const stretch of stretches) {
    const at = span(geometry, stretch)
    if (!at) continue
    const last = joined.at(-1)
    if (last && at.x <= last[0] + last[1] + 0.5) last[1] = round(Math.max(last[1], at.x + at.width - last[0]))
    else joined.push([at.x, at.width])
  }
  return joined
}

/** The class for the trace of a window if two traces are shown: "left" or "right". */
const sideOf = ({ side }) => (side ? ` so-${side}` : '')

/** The frame around the data. */
export function frame({ left, right, top, bottom }) {
  const [x, y] = [left - 0.5, top - 0.5]
  return svg('path', { class: 'so-frame', d: `M${x} ${y}H${right + 0.5}V${bottom + 0.5}H${x}z` })
}

/** The windows as bands behind the data; the selected one stronger. */
export function windowBands(geometry, windows) {
  const { top: y, height } = geometry
  const bands = windows
    .toSorted((a, b) => a.selected - b.selected)
    .map((window) => {
      const at = span(geometry, window.span, 2)
      const kind = `so-window${window.selected ? ' so-selected' : ''}${sideOf(window)}`
      return at && svg('rect', { class: kind, ...at, y, height, 'data-step': window.id })
    })
  return svg('g', { class: 'so-windows' }, ...bands)
}

/** The selected window's outline, drawn over the grid: window edges are often exactly on grid lines. */
export function selectedOutline(geometry, windows) {
  const { top: y, height } = geometry
  const selected = windows.find((window) => window.selected)
  const at = selected && span(geometry, selected.span, 2)
  const [x, width] = at ? [at.x, at.width].map(Math.round) : []
  const outline = at && svg('rect', { class: sideOf(selected).trim() || undefined, x, width, y, height })
  return svg('g', { class: 'so-outline' }, outline)
}

/** The other trajectory's windows: a row of brackets under the numbers. */
export function secondRow(geometry, windows) {
  const y = geometry.bottom - 30 // above the numbers
  const brackets = windows.flatMap(({ number: step, span: range, title }) => {
    const at = span(geometry, range, 4)
    if (!at) return []
    const { x, width } = at
    const name = svg('title', {}, t("The other trajectory's step {number}: {title}", { number: step, title }))
    const place = { x: round(x + width / 2), y: y - 4, 'text-anchor': 'middle' }
    return [
      svg('path', { d: `M${x} ${y - 4}v8M${x} ${y}h${width}M${round(x + width)} ${y - 4}v8` }),
      svg('text', place, String(step), name),
    ]
  })
  return svg('g', { class: 'so-second' }, ...brackets)
}

/**
 * The line between two continuum points, and the area between it and the data.
 * @param {any} geometry @param {number[][]} points of the line, [wavelength, flux as drawn] @param {any} scene
 */
export function widthMark(geometry, points, { scale, wavelength, drawn }) {
  const { left, right, top, bottom, height, yRange } = geometry
  /** @param {number[]} point */
  const place = ([at, flux]) => {
    const x = Math.max(left, Math.min(right, geometry.x(at)))
    const y = bottom - ((flux * scale - yRange[0]) / (yRange[1] - yRange[0])) * height
    return [round(x), round(Math.max(top, Math.min(bottom, y)))]
  }
  const path = (line) => line.map(([x, y], k) => `${k ? 'L' : 'M'}${x} ${y}`).join('')
  const [from, to] = [points[0][0], points[points.length - 1][0]]
  const group = svg('g', { class: 'so-width' })
  if (to < geometry.range[0] || from > geometry.range[1]) return group
  const line = points.filter(([, flux]) => Number.isFinite(flux)).map(place)
  const data = []
  for (let i = lowerBound(wavelength, from); i < wavelength.length && wavelength[i] <= to; i += 1)
    if (Number.isFinite(drawn.flux[i])) data.push(place([wavelength[i], drawn.flux[i]]))
  if (data.length && line.length)
    group.append(svg('path', { class: 'so-area', d: `${path([...line, ...data.toReversed()])}z` }))
  if (line.length) {
    const dots = [line[0], line[line.length - 1]].map(([x, y]) => `M${x - 3} ${y}a3 3 0 1 0 6 0a3 3 0 1 0 -6 0`)
    group.append(svg('path', { class: 'so-base', d: path(line) }), svg('path', { class: 'so-ends', d: dots.join('') }))
  }
  return group
}

/** The axis of the other frame, along the top of the frame and inside it. */
export function otherAxis(geometry, { factor, label }) {
  const { left, right, top, width } = geometry
  const [lo, hi] = geometry.range.map((wavelength) => wavelength * factor)
  const { values, digits } = niceTicks(lo, hi, width / 100)
  const labelled = left + label.length * 6.4 + 8
  const text = (x, more, ...content) => svg('text', { x, y: top + 14, ...more }, ...content)
  const ticks = values.flatMap((value) => {
    const x = round(geometry.x(value / factor))
    const isFree = x >= labelled + 14 && x <= right - 10
    return [
      svg('path', { d: `M${x} ${top}v4` }),
      isFree && text(x, { 'text-anchor': 'middle' }, number(value, digits, { group: false })),
    ]
  })
  return svg('g', { class: 'so-other-axis' }, ...ticks, text(left + 4, { class: 'so-axis-name' }, label))
}

/** Axis titles. The flux title of the upper panel, and one that is longer than the axis, is cut to its quantity. */
export function titles(geometry, { wavelength, flux }) {
  const long = geometry.titled && flux.text.length * 6.4 < geometry.height + 30
  const y = Math.round((geometry.top + geometry.bottom) / 2)
  const { text, x } = placedTitle(geometry, wavelength)
  const title = (place, ...content) => svg('text', { ...place, 'text-anchor': 'middle' }, ...content)
  return svg(
    'g',
    { class: 'so-titles' },
    geometry.titled && title({ x, y: geometry.bottom + 34 }, text),
    title({ transform: `translate(12 ${y})rotate(-90)` }, ...fluxSpans(long ? flux.text : flux.quantity)),
  )
}

const TITLE_LETTER = 6.8 // px

/** The title of the wavelengths under the middle of the axis; where there is no space, without its last part. */
function placedTitle({ left, right, panelWidth }, /** @type {string[]} */ parts) {
  // A Chinese character is as wide as two letters.
  const width = (/** @type {string[]} */ some) =>
    TITLE_LETTER * withCommas(some).replace(/[\u2e80-\uffef]/g, '  ').length
  const shown = width(parts) <= panelWidth ? parts : parts.slice(0, 3)
  return { text: shown.join(t(', ')), x: Math.min((left + right) / 2, panelWidth - width(shown) / 2) }
}

/** "Fλ" with λ as a subscript. */
function fluxSpans(text) {
  const match = text.match(/^F([λν])(.*)$/)
  if (!match) return [text]
  return ['F', svg('tspan', { dy: 3, 'font-size': '0.75em' }, match[1]), svg('tspan', { dy: -3 }, match[2] || '\u200b')]
}

/** Small marks where data are above or below the drawn range by more than 3σ. */
export function offScale(geometry, { wavelength, flux, sigma, scale }, /** @type {number[]} */ [from, to]) {
  const arrows = []
  let last = -Infinity
  for (let i = from; i < to; i += 1) {
    const above = (flux[i] - 3 * sigma[i]) * scale > geometry.yRange[1]
    const below = (flux[i] + 3 * sigma[i]) * scale < geometry.yRange[0]
    if (!above && !below) continue
    const x = round(geometry.x(wavelength[i]))
    if (x < geometry.left || x > geometry.right || x - last < 9) continue
    last = x
    const d = above ? `M${x - 4} ${geometry.top + 7}l4 -6l4 6z` : `M${x - 4} ${geometry.bottom - 7}l4 6l4 -6z`
    arrows.push(svg('path', { d, 'data-pixel': i }))
  }
  return svg('g', { class: 'so-off-scale' }, ...arrows)
}
