// From pixels to what is drawn: steps when a pixel is wide on the screen, one stroke from least to most a screen
// column when there are more pixels than columns. Drawing only: every measurement uses the pixels themselves.

import { borders, unbroken } from './math.js'

/** Screen pixels a data pixel must span to be drawn as a step. */
const STEP_FROM = 2

/**
 * What a panel draws of `flux` and `sigma` between two indices: {line: {x, y}, band: {x, y} | null}. NaN breaks the
 * line at gaps. `columnWidth` is the width of a screen column in Å of the data; `factor` turns the data's wavelengths into shown ones and
 * `scale` fluxes into shown ones.
 */
export function paths(wavelength, flux, sigma, { from, to, columnWidth, factor, scale, withBand }) {
  const runs = unbroken(wavelength, flux, from, to)
  const pixel = (wavelength[to - 1] - wavelength[from]) / Math.max(1, to - 1 - from)
  const outline = pixel >= STEP_FROM * columnWidth ? steps : pixel >= columnWidth ? points : columns
  const line = new Path(factor, scale)
  const band = withBand ? new Path(factor, scale) : null
  for (const run of runs) {
    const drawn = outline(wavelength, flux, sigma, run, columnWidth)
    line.add(drawn.x, drawn.y)
    if (band) band.add([...drawn.bandX, ...drawn.bandX.toReversed()], [...drawn.high, ...drawn.low.toReversed()])
  }
  return { line: line.done(), band: band && band.done() }
}

class Path {
  constructor(factor, scale) {
    this.x = []
    this.y = []
    this.factor = factor
    this.scale = scale
  }

  add(x, y) {
    if (this.x.length) {
      this.x.push(NaN)
      this.y.push(NaN)
    }
    for (let i = 0; i < x.length; i += 1) {
      this.x.push(x[i] * this.factor)
      this.y.push(y[i] * this.scale)
    }
  }

  done() {
    return { x: this.x, y: this.y }
  }
}

/** Each pixel as a flat step between its borders. */
function steps(wavelength, flux, sigma, [from, to]) {
  const x = []
  const y = []
  const low = []
  const high = []
  for (let i = from; i < to; i += 1) {
    x.push(...borders(wavelength, i))
    y.push(flux[i], flux[i])
    low.push(flux[i] - sigma[i], flux[i] - sigma[i])
    high.push(flux[i] + sigma[i], flux[i] + sigma[i])
  }
  return { x, y, bandX: x, low, high }
}

/** Each pixel as a point of a polyline; a lone pixel keeps its width. */
function points(wavelength, flux, sigma, run) {
  if (run[1] - run[0] === 1) return steps(wavelength, flux, sigma, run)
  const cut = (array) => Array.from(array.subarray(...run))
  const x = cut(wavelength)
  const y = cut(flux)
  const error = cut(sigma)
  return { x, y, bandX: x, low: y.map((value, i) => value - error[i]), high: y.map((value, i) => value + error[i]) }
}

/** The least and the most of each screen column, in the order in which they come: no spike is lost. */
function columns(wavelength, flux, sigma, run, columnWidth) {
  const drawn = { x: [], y: [], bandX: [], low: [], high: [] }
  for (let i = run[0]; i < run[1];) {
    const end = wavelength[i] + columnWidth
    let least = i
    let most = i
    let low = Infinity
    let high = -Infinity
    let j = i
    for (; j < run[1] && wavelength[j] < end; j += 1) {
      if (flux[j] < flux[least]) least = j
      if (flux[j] > flux[most]) most = j
      low = Math.min(low, flux[j] - sigma[j])
      high = Math.max(high, flux[j] + sigma[j])
    }
    for (const k of least === most ? [least] : [Math.min(least, most), Math.max(least, most)]) {
      drawn.x.push(wavelength[k])
      drawn.y.push(flux[k])
    }
    drawn.bandX.push(wavelength[i])
    drawn.low.push(low)
    drawn.high.push(high)
    i = Math.max(j, i + 1)
  }
  return drawn
}
