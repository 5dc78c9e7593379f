// What a plot shows before anybody has zoomed: the flux range of the whole spectrum or of a window, and the wavelengths
// with which the whole spectrum begins.

import { extent, restInData, windowInData } from './frames.js'
import { lowerBound, quantile, scatterOf } from './math.js'

const PAD = 0.06 // of the range, above and below the data
const NEAR_ZERO = 0.25 // of the highest flux: a range that begins below it begins at 0
const LEAST_UNMASKED = 0.1 // of the pixels: with fewer, flagged ones count too

/**
 * The flux range [low, high] of the whole spectrum between two indices: percentiles 1 to 99.5 of the pixels that the
 * survey does not flag, with lines that are wider than a cosmic ray unless they would flatten everything else: up to
 * five times the median, and down by the range of the percentiles. What is left out gets a mark.
 * @param {{flux: Float64Array, sigma: Float64Array}} drawn @param {ArrayLike<number>} mask
 */
export function overviewRange({ flux, sigma }, mask, from = 0, to = flux.length) {
  const indices = []
  for (let i = from; i < to; i += 1) if (!mask[i] && Number.isFinite(flux[i])) indices.push(i)
  const used = indices.length >= LEAST_UNMASKED * (to - from) ? indices : null
  const part = (/** @type {Float64Array} */ values) =>
    used ? Float64Array.from(used, (i) => values[i]) : values.subarray(from, to)
  const [values, errors] = [part(flux), part(sigma)]
  const kept = believable(values, errors)
  if (kept.length === 0) return [0, 1]
  const [least, middle, most] = [0.01, 0.5, 0.995].map((fraction) => quantile(kept, fraction))
  const [low, high] = features(kept)
  const span = most - least
  const lowest = Math.min(least, Math.max(low, least - span))
  const highest = Math.max(most, Math.min(high, 5 * middle))
  const [bottom, top] = padded(lowest, highest)
  // Flux that is zero or nearly so is shown against zero: how deep a line is can be seen then.
  return [lowest >= 0 && lowest < NEAR_ZERO * highest ? 0 : bottom, top]
}

/** The flux range [low, high] of every pixel with data between two indices, padded. */
export function wholeRange(/** @type {Float64Array} */ flux, from = 0, to = flux.length) {
  const kept = flux.subarray(from, to).filter(Number.isFinite)
  return kept.length ? padded(minimum(kept), maximum(kept)) : [0, 1]
}

function padded(low, high) {
  const pad = PAD * (high - low) || Math.abs(high) * 0.1 || 1
  return [low - pad, high + pad]
}

/** The finite values without those of pixels much noisier than the rest, unless they are significant. */
function believable(flux, sigma) {
  const noise = quantile(sigma, 0.5)
  const base = quantile(flux, 0.5)
  return flux.filter((value, i) => {
    const error = sigma[i]
    return Number.isFinite(value) && (!(error > 4 * noise) || Math.abs(value - base) > 8 * error)
  })
}

/**
 * The lowest and highest value without cosmic rays: a pixel may differ from the median of the five around it by a few
 * times the usual scatter, or by 0.65 of the difference of that median from the overall one: enough for the peak of an
 * unresolved line (FWHM 2.4 pixels).
 */
function features(kept) {
  const base = quantile(kept, 0.5)
  const middles = kept.map((_, i) => median5(kept, i))
  const scatter = scatterOf(kept.map((value, i) => value - middles[i]))
  const believed = kept.map((value, i) => {
    const reach = Math.max(5 * scatter, 0.65 * Math.abs(middles[i] - base))
    return Math.max(middles[i] - reach, Math.min(middles[i] + reach, value))
  })
  return [minimum(believed), maximum(believed)]
}

function median5(values, i) {
  const near = values.slice(Math.max(0, i - 2), i + 3).sort()
  return near[near.length >> 1]
}

const minimum = (values) => values.reduce((least, value) => Math.min(least, value), Infinity)
const maximum = (values) => values.reduce((most, value) => Math.max(most, value), -Infinity)

/** Å: where the guides' features and the optical surveys are. */
const OPTICAL = [3700, 9300]
const FAR = 2000 // Å of data outside of these: the whole spectrum then begins with a part
const LEAST = 1000 // Å of data inside

/**
 * The part of a spectrum that far exceeds the optical with which its plot begins, in the data's wavelengths: the
 * optical, the wavelengths of the task and the windows of the steps. null: all of it.
 * @param {any} item
 */
export function taskRange({ spectrum, redshift, windows, range }) {
  if (!range) return null
  const [first, last] = extent(spectrum.wavelength)
  const own = [range.lo, range.hi].map((edge) => restInData(edge, range.medium, spectrum, redshift ?? 0))
  const spans = [OPTICAL, own, ...windows.map((window) => windowInData(window, spectrum))]
  const lo = Math.max(first, Math.min(...spans.map((span) => span[0])))
  const hi = Math.min(last, Math.max(...spans.map((span) => span[1])))
  return hi - lo < LEAST || last - first - (hi - lo) < FAR ? null : [lo, hi]
}

/** Indices [from, to) of the pixels whose centres are in a range. */
export function centresIn(/** @type {Float64Array} */ wavelength, [lo, hi]) {
  const from = lowerBound(wavelength, lo)
  return [from, Math.max(from, lowerBound(wavelength, hi))]
}
