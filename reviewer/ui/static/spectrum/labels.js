// The names of lines within the frame, above the data, in rows. Leaders join each name to its line; names never
// overlap.

import { isWithin } from './frames.js'
import { round, svg } from './marks.js'

const NAME_SIZE = 12 // px, as in view.css
const FLAG_ROW = 14

/** @type {Map<string, number>} */
const measured = new Map()
/** @type {any} */
let canvas = null

/** The width of a name in pixels. */
function textWidth(name) {
  const known = measured.get(name)
  if (known) return known
  canvas ??= document.createElement('canvas').getContext('2d')
  canvas.font = `${NAME_SIZE}px ${getComputedStyle(document.documentElement).getPropertyValue('--so-font')}`
  const { width } = canvas.measureText(name)
  measured.set(name, width)
  return width
}

/** Least-squares places at least `gap` apart for increasing positions: isotonic regression by pooling neighbours. */
export function spread(positions, gap) {
  const blocks = []
  positions.forEach((position, i) => {
    blocks.push({ sum: position - i * gap, count: 1 })
    while (blocks.length > 1) {
      const [before, last] = blocks.slice(-2)
      if (before.sum / before.count <= last.sum / last.count) break
      blocks.splice(-2, 2, { sum: before.sum + last.sum, count: before.count + last.count })
    }
  })
  return blocks.flatMap((block) => Array(block.count).fill(block.sum / block.count)).map((value, i) => value + i * gap)
}

/** The same between two ends; closer together than `gap` where there is no other way. */
export function spreadWithin(positions, gap, /** @type {number[]} */ [lo, hi]) {
  const least = Math.min(gap, (hi - lo) / Math.max(1, positions.length - 1))
  const places = spread(positions, least)
  for (let i = 0; i < places.length; i += 1) places[i] = Math.max(places[i], i ? places[i - 1] + least : lo)
  for (let i = places.length - 1; i >= 0; i -= 1)
    places[i] = Math.min(places[i], i < places.length - 1 ? places[i + 1] - least : hi)
  return places
}

/** Dotted lines through the data, with the names of those that the data show, in `geometry.rows` rows. */
export function lineMarks(geometry, lines) {
  const all = lines
    .filter(({ at }) => isWithin(at, geometry.range))
    .map((line) => ({ line, x: round(geometry.x(line.at)), weight: (line.task ? 2 : 0) + (line.major ? 1 : 0) }))
  const seen = all.filter(({ line }) => line.seen)
  const widths = seen.map(({ line }) => textWidth(line.name) + 8)
  const [places, weights] = [seen.map(({ x }) => x), seen.map(({ weight }) => weight)]
  const rows = placeFlags(places, widths, weights, geometry.rows)
  // A name that would leave the panel extends to the left of its line instead, where there is space for it.
  const leaves = seen.map(({ x }, i) => x + widths[i] - 8 > geometry.right + 10)
  const spans = seen.map(({ x }, i) => (leaves[i] ? [x - widths[i], x, x] : [x, x + widths[i], x]))
  for (const i of leaves.keys()) if (leaves[i] && rows[i] !== null) rows[i] = freeRow(rows, spans, i, geometry.rows)
  const foot = geometry.top + geometry.axisHeight + geometry.rows * FLAG_ROW - 1
  return svg(
    'g',
    { class: 'so-lines' },
    ...all.filter(({ line }) => !line.seen).map((mark) => lineMark(geometry, mark, foot, [])),
    ...seen.map((mark, i) => {
      const { x, line } = mark
      const y = foot - (rows[i] ?? 0) * FLAG_ROW
      const place = leaves[i] ? { x: x - 3, y, 'text-anchor': 'end' } : { x: x + 3, y }
      const leader = svg('path', { class: 'so-leader', d: `M${x} ${foot}V${y - 8}` })
      const name = svg('text', { class: 'so-name', ...place }, line.name)
      return lineMark(geometry, mark, foot, rows[i] === null ? [] : [leader, name])
    }),
  )
}

function lineMark(geometry, { line, x }, foot, name) {
  const kind = `so-line so-${line.kind}${line.task ? ' so-task' : ''}${name.length ? '' : ' so-unnamed'}`
  const dots = svg('path', { class: 'so-dots', d: `M${x} ${geometry.bottom}V${name.length ? foot : geometry.top}` })
  return svg('g', { class: kind, 'data-line': line.index }, dots, ...name)
}

/**
 * A row (0 is the lowest) or null for each name, whose line is at one of `positions` (increasing). A name extends to
 * the right of its line, above the names of its right neighbours, so no line crosses a name. The names with the
 * smallest `weights` are left out if there are too few rows.
 */
export function placeFlags(positions, widths, weights, rows) {
  const order = positions.map((_, i) => i).sort((a, b) => weights[b] - weights[a] || a - b)
  let kept = []
  let placed = positions.map(() => null)
  for (const candidate of order) {
    const trial = [...kept, candidate].sort((a, b) => b - a)
    const starts = []
    const chosenRows = positions.map(() => null)
    for (const i of trial) {
      let row = 0
      while (starts[row] !== undefined && starts[row] < positions[i] + widths[i]) row += 1
      starts.length = Math.max(starts.length, row + 1)
      for (let under = 0; under <= row; under += 1) starts[under] = positions[i]
      chosenRows[i] = row
    }
    if (starts.length > rows) continue
    kept = trial
    placed = chosenRows
  }
  return placed
}

/**
 * The lowest row in which name `i`, which ends at its line, meets no other name and no other name's leader; else null.
 * @param {(number | null)[]} rows of all names @param {number[][]} spans of each name: its left end, its right end
 * and its line @param {number} i @param {number} count of rows
 */
export function freeRow(rows, spans, i, count) {
  const [lo, hi, line] = spans[i]
  const meets = (row) =>
    rows.some((other, j) => {
      if (j === i || other === null) return false
      const [from, to, leader] = spans[j]
      if (other === row) return from < hi && lo < to
      return other > row ? lo < leader && leader < hi : from < line && line < to
    })
  return Array.from({ length: count }, (_, row) => row).find((row) => !meets(row)) ?? null
}
