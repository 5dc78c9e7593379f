// The calculations of the spectrum view: pure functions on typed arrays, independent of the page.

export const C_KMS = 299792.458

/**
 * Air wavelength (Å) of a vacuum wavelength (Å): Ciddor (1996, Appl. Opt. 35, 1566) for standard air, as in the SDSS
 * documentation. Below 2000 Å tables list vacuum wavelengths, so they are not changed.
 */
export function vacuumToAir(vacuum) {
  if (vacuum < 2000) return vacuum
  const waves = (1e4 / vacuum) ** 2
  return vacuum / (1 + 5.792105e-2 / (238.0185 - waves) + 1.67917e-3 / (57.362 - waves))
}

/** Vacuum wavelength (Å) of an air wavelength (Å): the inverse of `vacuumToAir`, by iteration to 1e-9 Å. */
export function airToVacuum(air) {
  if (air < 2000) return air
  let vacuum = air
  for (let i = 0; i < 4; i += 1) vacuum = air * (vacuum / vacuumToAir(vacuum))
  return vacuum
}

/** Convert a wavelength from one medium to another; both are "air" or "vacuum". */
export function inMedium(wavelength, from, to) {
  if (from === to) return wavelength
  return to === 'vacuum' ? airToVacuum(wavelength) : vacuumToAir(wavelength)
}

/** The first index whose value is not below `value`; `array` increases. */
export function lowerBound(array, value) {
  let [low, high] = [0, array.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (array[middle] < value) low = middle + 1
    else high = middle
  }
  return low
}

/** The index of the pixel nearest to `value`. */
export function nearest(array, value) {
  const right = Math.min(array.length - 1, lowerBound(array, value))
  return right > 0 && value - array[right - 1] < array[right] - value ? right - 1 : right
}

/** Flux, and σ = 1/√ivar, both NaN where there is no data (ivar 0 or flux not finite). */
export function measured(flux, ivar) {
  const shown = new Float64Array(flux.length).fill(NaN)
  const sigma = new Float64Array(flux.length).fill(NaN)
  for (let i = 0; i < flux.length; i += 1) {
    if (!(ivar[i] > 0) || !Number.isFinite(flux[i])) continue
    shown[i] = flux[i]
    sigma[i] = 1 / Math.sqrt(ivar[i])
  }
  return { flux: shown, sigma }
}

/**
 * Gaussian smoothing of `width` pixels (σ) weighted by ivar, so that a sky residual does not spread over its
 * neighbours; the errors are those of the weighted mean. Pixels without data stay so.
 */
export function smooth(flux, ivar, width) {
  const { flux: clean, sigma } = measured(flux, ivar)
  if (!(width > 0)) return { flux: clean, sigma }
  const reach = Math.ceil(4 * width)
  const kernel = Float64Array.from({ length: reach + 1 }, (_, k) => Math.exp(-0.5 * (k / width) ** 2))
  const [outFlux, outSigma] = [clean.slice().fill(NaN), clean.slice().fill(NaN)]
  for (let i = 0; i < flux.length; i += 1) {
    if (Number.isNaN(clean[i])) continue
    let [weight, sum, variance] = [0, 0, 0]
    const last = Math.min(flux.length - 1, i + reach)
    for (let j = Math.max(0, i - reach); j <= last; j += 1) {
      if (Number.isNaN(clean[j])) continue
      const g = kernel[Math.abs(i - j)]
      weight += g * ivar[j]
      sum += g * ivar[j] * clean[j]
      variance += g * g * ivar[j]
    }
    outFlux[i] = sum / weight
    outSigma[i] = Math.sqrt(variance) / weight
  }
  return { flux: outFlux, sigma: outSigma }
}

/** The width of one pixel in km/s near `wavelength`. */
export function kmsPerPixel(wavelengths, wavelength) {
  const i = Math.max(1, Math.min(wavelengths.length - 1, nearest(wavelengths, wavelength)))
  return (C_KMS * (wavelengths[i] - wavelengths[i - 1])) / wavelengths[i]
}

/** The value below which `fraction` of the finite `values` lie; NaN if there are none. */
export function quantile(values, fraction) {
  const sorted = Float64Array.from(values).filter(Number.isFinite).sort()
  return sorted.length ? sorted[Math.min(sorted.length - 1, Math.floor(fraction * sorted.length))] : NaN
}

/** The usual deviation, as σ of a normal distribution, without outliers. */
export const scatterOf = (deviations) => 1.4826 * quantile(deviations.map(Math.abs), 0.5)

/** Ranges [from, to) of indices for which `holds(i)` is true; a new one begins where `breaks(i)` is. */
export function stretches([from, to], holds, breaks = /** @type {(i: number) => boolean} */ (() => false)) {
  const runs = []
  let start = -1
  for (let i = from; i <= to; i += 1) {
    const inside = i < to && holds(i)
    if (start >= 0 && (!inside || breaks(i))) {
      runs.push([start, i])
      start = -1
    }
    if (inside && start < 0) start = i
  }
  return runs
}

/** Ranges of pixels with data and without a jump in wavelength between neighbours. */
export const unbroken = (wavelength, flux, from, to) =>
  stretches(
    [from, to],
    (i) => Number.isFinite(flux[i]),
    (i) => isJump(wavelength, i),
  )

const isJump = (wavelength, i) =>
  i >= 2 && wavelength[i] - wavelength[i - 1] > 5 * (wavelength[i - 1] - wavelength[i - 2])

/** The borders of pixel `i`: half way to its neighbours, symmetric if one is missing or beyond a jump. */
export function borders(wavelength, i) {
  const before = i > 0 && !isJump(wavelength, i) ? wavelength[i] - wavelength[i - 1] : NaN
  const after = i + 1 < wavelength.length && !isJump(wavelength, i + 1) ? wavelength[i + 1] - wavelength[i] : NaN
  const left = Number.isNaN(before) ? after : before
  const right = Number.isNaN(after) ? before : after
  return [wavelength[i] - (left || 0) / 2, wavelength[i] + (right || 0) / 2]
}

/** km/s on either side of a line, and as far as its continuum is taken from: a narrow line, a broad one. */
const SCALES = [
  [250, 1200],
  [1200, 5000],
]
const LEAST_SEEN = 5 // of the error of the mean

/**
 * Whether the mean flux around a wavelength differs from the median on both sides of it by 5 times its error, or by 5
 * times what the scatter there gives if that is larger. It decides which names are drawn; what is measured comes from
 * the server.
 */
export const isSeen = (wavelength, /** @type {{flux: Float64Array, sigma: Float64Array}} */ { flux, sigma }, at) =>
  SCALES.some(([core, reach]) => {
    const edge = (/** @type {number} */ kms) => lowerBound(wavelength, at * (1 + kms / C_KMS))
    const [from, left, right, to] = [-reach, -core, core, reach].map(edge)
    const sides = [...flux.subarray(from, left), ...flux.subarray(right, to)].filter(Number.isFinite)
    const inner = flux.subarray(left, right).filter(Number.isFinite)
    if (sides.length < 6 || inner.length < 2) return false
    const level = quantile(sides, 0.5)
    const error = Math.max(
      scatterOf(sides.map((value) => value - level)),
      quantile(sigma.subarray(left, right), 0.5) || 0,
    )
    const mean = inner.reduce((sum, value) => sum + value, 0) / inner.length
    return Math.abs(mean - level) > (LEAST_SEEN * error) / Math.sqrt(inner.length)
  })

/** {step, values, digits} of about `count` ticks at multiples of 1, 2 or 5 times a power of ten. */
export function niceTicks(low, high, count) {
  const rough = (high - low) / Math.max(1, count)
  const power = 10 ** Math.floor(Math.log10(rough))
  const step = [1, 2, 5, 10].map((m) => m * power).find((candidate) => candidate >= rough) ?? 10 * power
  const values = []
  for (let k = Math.ceil(low / step); k * step <= high; k += 1) values.push(k * step)
  return { step, values, digits: Math.max(0, -Math.floor(Math.log10(step) + 1e-9)) }
}

/**
 * The wavelength of the feature between two indices, in emission or absorption: the centre of the five pixels around
 * the one farthest from the median, weighted by how far each is from it.
 */
export function peakNear(wavelength, flux, from, to) {
  const middle = quantile(flux.subarray(from, to), 0.5)
  let best = from
  for (let i = from; i < to; i += 1) if (Math.abs(flux[i] - middle) > Math.abs(flux[best] - middle)) best = i
  let [weight, sum] = [0, 0]
  for (let i = Math.max(from, best - 2); i < Math.min(to, best + 3); i += 1) {
    const excess = Math.abs(flux[i] - middle) || 0
    weight += excess
    sum += excess * wavelength[i]
  }
  return weight > 0 ? sum / weight : wavelength[best]
}

/** The value at `at` between the points (x, y), joined by straight lines; NaN beyond them. */
export function interpolate(x, y, at) {
  const right = lowerBound(x, at)
  if (x[right] === at) return y[right]
  if (right === 0 || right === x.length) return NaN
  const fraction = (at - x[right - 1]) / (x[right] - x[right - 1])
  return y[right - 1] + fraction * (y[right] - y[right - 1])
}
