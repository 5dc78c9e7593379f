// What a person chooses about the spectrum view, and the next choice after each.

import { lasting } from '../common/browser_storage.js'

/** What the page may want to remember from one visit to the next. */
const REMEMBERED = ['z', 'unit', 'smoothing', 'error', 'lines', 'lineList', 'sky', 'frame', 'template']

export const FIRST = {
  z: 0,
  unit: 'z',
  smoothing: 0,
  error: true,
  lines: true,
  lineList: 'few',
  sky: true,
  frame: 'observed',
  template: true,
  brush: false,
}

/** The part of a state that is worth remembering, or null if `change` touches none of it. */
export function remembered(state, change) {
  if (!REMEMBERED.some((name) => name in change)) return null
  return Object.fromEntries(REMEMBERED.map((name) => [name, state[name]]))
}

/** How the person likes the spectrum drawn, kept in this browser; the redshift is each spectrum's own. */
export const keepForNextVisit = ({ z, ...state }) => lasting.set('so-spectrum', JSON.stringify(state))

/** What was kept, or nothing. */
export const lastVisit = () => lasting.read('so-spectrum') ?? {}

/** Offered amounts of smoothing, σ in pixels. */
const SMOOTHINGS = [0, 0.5, 1, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10, 15, 20]

/** The next amount up (direction 1) or down (-1); the same at the ends. */
export function nextSmoothing(pixels, direction) {
  const next =
    direction > 0 ? SMOOTHINGS.find((width) => width > pixels) : SMOOTHINGS.findLast((width) => width < pixels)
  return next ?? pixels
}

export const nextList = (list) => ({ few: 'emission', emission: 'absorption', absorption: 'all', all: 'few' })[list]

/** Off, few, all, and off again: what one key does. */
export function nextLines({ lines, lineList }) {
  if (!lines) return { lines: true, lineList: 'few' }
  return lineList === 'few' ? { lineList: 'all' } : { lines: false, lineList: 'few' }
}

/** A redshift one step of ln(1 + z) away: steps of equal velocity, wherever z is. */
export const steppedRedshift = (z, by) => (1 + z) * Math.exp(by) - 1
