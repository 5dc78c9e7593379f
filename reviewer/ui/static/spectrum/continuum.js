// The pseudo-continuum for display and the division by it. The numbers are those of agent.measure.running_continuum;
// tests/reviewer/ui/test_page_arithmetic.py compares the two.

import { extent } from './frames.js'

const STRETCH = 150 // Å
const ROUNDS = 5

/**
 * A pseudo-continuum for each pixel: medians in stretches of that many Å, without absorption and emission, joined by
 * straight lines. In a cool star it follows the tops between the bands. All zeros for a spectrum without data.
 * @param {{wavelength: Float64Array, flux: Float32Array | Float64Array, ivar: Float64Array}} spectrum
 */
export function runningContinuum({ wavelength, flux, ivar }, stretch = STRETCH) {
  const seen = Array.from(flux.keys()).filter((i) => ivar[i] > 0)
  const running = new Float64Array(wavelength.length)
  if (seen.length === 0) return running
  const { centres, levels } = nodes(wavelength, flux, seen, stretch)
  if (centres.length === 0) return running.fill(median(seen.map((i) => flux[i])))
  for (let i = 0, right = 0; i < wavelength.length; i += 1) {
    while (right < centres.length && centres[right] <= wavelength[i]) right += 1
    if (right === 0) running[i] = levels[0]
    else if (right === centres.length) running[i] = levels[right - 1]
    else {
      const slope = (levels[right] - levels[right - 1]) / (centres[right] - centres[right - 1])
      running[i] = slope * (wavelength[i] - centres[right - 1]) + levels[right - 1]
    }
  }
  return running
}

/** The middle of each stretch with three or more pixels of data, and the level there. */
function nodes(wavelength, flux, seen, stretch) {
  const [first, last] = extent(wavelength)
  const count = Math.max(1, roundedToEven((last - first) / stretch))
  const step = (last - first) / count
  const edge = (/** @type {number} */ k) => (k === count ? last : k * step + first)
  const centres = []
  const levels = []
  for (let k = 0, from = 0; k < count; k += 1) {
    const [lo, hi] = [edge(k), edge(k + 1)]
    while (from < seen.length && wavelength[seen[from]] < lo) from += 1
    let to = from
    while (to < seen.length && wavelength[seen[to]] <= hi) to += 1
    if (to - from < 3) continue
    centres.push((lo + hi) / 2)
    levels.push(clippedMedian(seen.slice(from, to).map((i) => flux[i])))
  }
  return { centres, levels }
}

/** Most lines are in absorption, so the lower side is clipped more. @param {number[]} values */
function clippedMedian(values) {
  let inside = values
  for (let round = 0; round < ROUNDS; round += 1) {
    const middle = median(inside)
    const spread = 1.4826 * median(inside.map((value) => Math.abs(value - middle)))
    inside = inside.filter((value) => value >= middle - 1.5 * spread && value <= middle + 3 * spread)
  }
  return median(inside)
}

/** The median; of an even number of values the mean of the two in the middle. @param {number[]} values */
function median(values) {
  const sorted = Float64Array.from(values).sort()
  const half = sorted.length >> 1
  return sorted.length % 2 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2
}

/** Rounded as Python rounds: a half to the even neighbour. @param {number} value */
const roundedToEven = (value) => (Math.abs(value % 2) === 0.5 ? Math.floor(value) : Math.round(value))

const known = new WeakMap()

/** The pseudo-continuum of a spectrum, calculated once. */
export function continuumOf(spectrum) {
  if (!known.has(spectrum)) known.set(spectrum, runningContinuum(spectrum))
  return known.get(spectrum)
}

/** Values divided by a continuum; NaN where it is not positive. @param {Float64Array} values */
export const dividedBy = (values, /** @type {Float64Array} */ continuum) =>
  values.map((value, i) => (continuum[i] > 0 ? value / continuum[i] : NaN))

/** Flux and error divided by a continuum. */
export const divided = ({ flux, sigma }, /** @type {Float64Array} */ continuum) => ({
  flux: dividedBy(flux, continuum),
  sigma: dividedBy(sigma, continuum),
})
