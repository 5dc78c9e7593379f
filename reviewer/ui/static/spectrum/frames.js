// Positions of lines, bands and windows on the wavelength axis. They are kept in the data's own wavelengths; one factor
// (`shownFactor`) converts them to the axis that the person chose. A new redshift therefore moves the lines only.

import { borders, inMedium, lowerBound, nearest } from './math.js'

/** The factor from the data's wavelengths to those of the shown axis. `shown` is "observed" or "rest". */
export function shownFactor(spectrum, z, shown) {
  if (spectrum.frame === shown) return 1
  return shown === 'rest' ? 1 / (1 + z) : 1 + z
}

/** The frame of the axis. Rest-frame data without a redshift have no observed wavelengths to show. */
export const axisFrame = ({ spectrum, redshift }, { z, frame }) =>
  spectrum.frame === 'rest' && !redshift && z === 0 ? 'rest' : frame

export const otherFrame = (frame) => (frame === 'rest' ? 'observed' : 'rest')

/**
 * The factor from a window's wavelengths to the data's. The tool that drew the window divided by (1 + z) with the z of
 * that step, which may differ from the redshift that the person is trying now.
 */
function windowFactor(window, spectrum) {
  if (window.frame === spectrum.frame) return 1
  const stretch = 1 + (window.z ?? 0)
  return window.frame === 'rest' ? stretch : 1 / stretch
}

/** [lo, hi] of a window in the data's wavelengths. */
export const windowInData = (window, spectrum) =>
  [window.lo, window.hi].map((edge) => edge * windowFactor(window, spectrum))

/** A rest wavelength in `medium` as one of the data, for a source at `z`; media are converted as observed. */
export function restInData(wavelength, medium, spectrum, z) {
  if (spectrum.frame === 'rest') return inMedium(wavelength, medium, spectrum.medium)
  return inMedium(inMedium(wavelength, medium, 'vacuum') * (1 + z), 'vacuum', spectrum.medium)
}

/** The redshift at which a line of rest `wavelength` is observed at `seen`; NaN for data in the rest frame. */
export function redshiftOf(seen, wavelength, medium, spectrum) {
  if (spectrum.frame === 'rest') return NaN
  return inMedium(seen, spectrum.medium, 'vacuum') / inMedium(wavelength, medium, 'vacuum') - 1
}

/**
 * [lo, hi] of a sky, telluric or join band in the data's wavelengths; null if unknown (rest-frame data and
 * no redshift in the file). It depends on the file's redshift, not on the one being tried.
 */
export function bandInData(band, spectrum, fileRedshift) {
  const span = [band.lo, band.hi].map((edge) => inMedium(edge, band.medium, spectrum.medium))
  if (spectrum.frame === 'observed') return span
  return (fileRedshift ?? null) === null ? null : span.map((edge) => edge / (1 + fileRedshift))
}

/** The lines that match a choice ("few", "emission", "absorption", "all") and that lie within the data. */
export function chosenLines({ lines, spectrum }, choice, z) {
  const ends = extent(spectrum.wavelength)
  return lines
    .map((line, index) => ({ ...line, index }))
    .filter(
      ({ kind, major, task }) =>
        task || choice === 'all' || (choice === 'few' ? major : [choice, 'both'].includes(kind)),
    )
    .map((line) => ({ ...line, at: restInData(line.wavelength, line.medium, spectrum, z) }))
    .filter(({ at }) => isWithin(at, ends))
    .sort((a, b) => a.at - b.at)
}

export const extent = (wavelength) => [wavelength[0], wavelength.at(-1)]

export const isWithin = (value, /** @type {number[]} */ [lo, hi]) => value >= lo && value <= hi

/** Indices [from, to) of the pixels in a range of the data's wavelengths, and one more on either side. */
export function pixelsIn(/** @type {Float64Array} */ wavelength, /** @type {number[]} */ [lo, hi]) {
  return [Math.max(0, lowerBound(wavelength, lo) - 1), Math.min(wavelength.length, lowerBound(wavelength, hi) + 1)]
}

/** Minimum width of a window in data pixels. */
const MIN_PIXELS = 3

/** The resolution of one screen pixel of a panel as a power of ten in Å, in the window's own frame. */
export function screenGrain(panel, window, spectrum) {
  return 10 ** Math.floor(Math.log10(panel.geometry.perPixel / windowFactor(window, spectrum)))
}

/**
 * {lo, hi} in the window's own frame for a span of the data's wavelengths, at least three data pixels wide. An end that
 * moved is rounded to `grain` Å; the other one keeps all of its digits.
 */
export function draggedTo(/** @type {number[]} */ [lo, hi], window, spectrum, grain) {
  const factor = windowFactor(window, spectrum)
  const [left, right] = borders(spectrum.wavelength, nearest(spectrum.wavelength, lo))
  const ends = [lo, Math.max(hi, lo + MIN_PIXELS * (right - left))].map((end) => end / factor)
  const round = (value) => {
    const kept = [window.lo, window.hi].find((end) => Math.abs(end - value) < 1e-6)
    return kept ?? Number((Math.round(value / grain) * grain).toFixed(4))
  }
  return { lo: round(ends[0]), hi: round(ends[1]) }
}

/** {lo, hi} with one end ("lo" or "hi") moved by some data pixels; null if the window would be too narrow. */
export function nudged(window, spectrum, end, pixels) {
  const span = windowInData(window, spectrum)
  const which = end === 'lo' ? 0 : 1
  const [left, right] = borders(spectrum.wavelength, nearest(spectrum.wavelength, span[which]))
  span[which] += pixels * (right - left)
  return span[1] - span[0] < MIN_PIXELS * (right - left) ? null : draggedTo(span, window, spectrum, 0.01)
}
