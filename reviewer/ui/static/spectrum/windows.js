// A window under a person's hand: what a drag or an arrow key makes of it, in the step's own frame.

import { windowFactor, windowInData } from './frames.js'
import { borders, nearest } from './math.js'

/** Data pixels a window must span. */
const LEAST = 3

/** The power of ten in Å, in the window's own frame, that one screen pixel of a panel can tell apart. */
export function screenGrain(panel, window, spectrum) {
  return 10 ** Math.floor(Math.log10(panel.geometry.perPixel / windowFactor(window, spectrum)))
}

/**
 * {lo, hi} in the window's own frame for a span of the data's wavelengths, at least three data pixels wide. An end that
 * moved is rounded to `grain` Å; one that did not keeps every digit it had.
 */
export function draggedTo([lo, hi], window, spectrum, grain) {
  const factor = windowFactor(window, spectrum)
  const [left, right] = borders(spectrum.wavelength, nearest(spectrum.wavelength, lo))
  const ends = [lo, Math.max(hi, lo + LEAST * (right - left))].map((end) => end / factor)
  const round = (value) => {
    const kept = [window.lo, window.hi].find((end) => Math.abs(end - value) < 1e-6)
    return kept ?? Number((Math.round(value / grain) * grain).toFixed(4))
  }
  return { lo: round(ends[0]), hi: round(ends[1]) }
}

/** {lo, hi} with one end ("lo" or "hi") moved by some data pixels; null if that would make the window too narrow. */
export function nudged(window, spectrum, end, pixels) {
  const span = windowInData(window, spectrum)
  const which = end === 'lo' ? 0 : 1
  const [left, right] = borders(spectrum.wavelength, nearest(spectrum.wavelength, span[which]))
  span[which] += pixels * (right - left)
  return span[1] - span[0] < LEAST * (right - left) ? null : draggedTo(span, window, spectrum, 0.01)
}
