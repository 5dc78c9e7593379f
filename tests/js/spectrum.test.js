// The arithmetic of the interactive spectrum. Where the agent calculates the same,
// tests/reviewer/ui/test_page_arithmetic.py compares the two.

import assert from 'node:assert/strict'
import { test } from 'node:test'

import { steppedRedshift } from '../../reviewer/ui/static/spectrum/controls.js'
import { shownFactor } from '../../reviewer/ui/static/spectrum/frames.js'
import { freeRow, placeFlags } from '../../reviewer/ui/static/spectrum/labels.js'
import { niceTicks, smooth } from '../../reviewer/ui/static/spectrum/math.js'
import { overviewRange, taskRange, wholeRange } from '../../reviewer/ui/static/spectrum/ranges.js'
import { paths } from '../../reviewer/ui/static/spectrum/scene.js'
import { near, normal, pixels, random } from './support.js'

test('the rest frame is divided by 1 + z, and a step of the redshift is one velocity at every z', () => {
  near(
    [shownFactor({ frame: 'observed' }, 0.5, 'rest'), shownFactor({ frame: 'rest' }, 0.5, 'observed')],
    [1 / 1.5, 1.5],
  )
  assert.equal(shownFactor({ frame: 'rest' }, 0.5, 'rest'), 1)
  near([steppedRedshift(0, 1e-4), steppedRedshift(1.5, 1e-4)], [1.00005e-4, 1.5002500125])
})

test('smoothing is the ivar-weighted Gaussian mean with its own error', () => {
  const next = random(1)
  const flux = pixels(60, () => 100 + 5 * normal(next))
  const ivar = pixels(60, () => 0.1 + 3.9 * next())
  const kernel = (distance) => (Math.abs(distance) <= 6 ? Math.exp(-0.5 * (distance / 1.5) ** 2) : 0)
  const sum = (value) => pixels(60, (i) => flux.reduce((total, _, j) => total + value(kernel(i - j), j), 0))
  const weight = sum((k, j) => k * ivar[j])
  const smoothed = smooth(flux, ivar, 1.5)
  near(
    smoothed.flux,
    sum((k, j) => k * ivar[j] * flux[j]).map((total, i) => total / weight[i]),
  )
  near(
    smoothed.sigma,
    sum((k, j) => k * k * ivar[j]).map((total, i) => Math.sqrt(total) / weight[i]),
  )
})

test('smoothing keeps gaps and ignores the values in them', () => {
  const inGap = (i) => i === 8 || i === 9
  const smoothed = smooth(
    pixels(20, (i) => (inGap(i) ? 1e6 : 10)),
    pixels(20, (i) => (inGap(i) ? 0 : 1)),
    2,
  )
  near(
    smoothed.flux,
    pixels(20, (i) => (inGap(i) ? NaN : 10)),
  )
})

const unmasked = (length) => new Float64Array(length)
const overview = (flux, sigma, mask = unmasked(flux.length)) => overviewRange({ flux, sigma }, mask)
const ones = (length) => pixels(length, () => 1)

test('the flux range ignores a cosmic ray and a noisy end, but keeps an emission line', () => {
  const next = random(2)
  const sigma = pixels(4000, (i) => (i < 300 ? 80 : 2))
  const flux = sigma.map((error) => 100 + error * normal(next))
  flux[2000] = 5e4
  const [low, high] = overview(flux, sigma)
  assert.ok(80 < low && low < 95 && 105 < high && high < 120, `${low} to ${high}`)
  const emission = flux.map((value, i) => value + 300 * Math.exp(-0.5 * ((i - 3000) / 1.02) ** 2))
  assert.ok(overview(emission, sigma)[1] > 395)
  const photonNoise = emission.map((value, i) => (value > 150 ? 20 : sigma[i]))
  assert.ok(overview(emission, photonNoise)[1] > 395)
})

test('a feature of many times the continuum does not flatten the rest', () => {
  const flux = (top) => pixels(4000, (i) => (i >= 2000 && i < 2010 ? top : 100 + Math.sin(i)))
  assert.ok(overview(flux(1e5), ones(4000))[1] < 600)
  assert.ok(overview(flux(450), ones(4000))[1] > 450, 'below five times the median')
})

test('flagged pixels do not set the flux range unless nearly all are flagged', () => {
  const flux = pixels(1000, (i) => (i < 200 ? -500 : 100 + (i % 7)))
  const mask = pixels(1000, (i) => Number(i < 200))
  assert.ok(overview(flux, ones(1000), mask)[0] > 80)
  assert.ok(overview(flux, ones(1000), ones(1000))[0] < -500)
})

test('flux that begins near zero is shown against zero', () => {
  const ramp = (offset) => pixels(2000, (i) => 10 + (90 * i) / 1999 + offset)
  assert.equal(overview(ramp(0), ones(2000))[0], 0)
  assert.ok(overview(ramp(100), ones(2000))[0] > 50)
  assert.ok(overview(ramp(-30), ones(2000))[0] < -10)
})

test('a window shows each of its pixels', () => {
  const flux = Float64Array.of(1, 2, NaN, 90, 2, 1, -40)
  const [low, high] = wholeRange(flux, 0, 6)
  assert.ok(low < 1 && 90 < high && high < 100)
  assert.ok(wholeRange(flux, 0, 7)[0] < -40)
})

test('the flux range without data is still a range', () => {
  for (const flux of [pixels(5, () => NaN), pixels(5, () => 0)])
    for (const [low, high] of [overview(flux, ones(5)), wholeRange(flux)]) assert.ok(low < high)
})

test('a spectrum that far exceeds the optical begins with the range of the task', () => {
  for (const [first, last, expected] of [
    [1141, 300111, [3700, 9300]],
    [900, 10239, [3700, 9300]],
    [3573, 10359, null],
    [3700, 9100, null],
    [9000, 24800, null],
    [4200, 24800, [4200, 9300]],
  ]) {
    const wavelength = pixels(500, (i) => first + ((last - first) * i) / 499)
    const spectrum = { wavelength, frame: 'observed', medium: 'vacuum' }
    const range = { lo: 3800, hi: 9000, medium: 'vacuum' }
    const item = { spectrum, redshift: null, windows: [], range }
    assert.deepEqual(taskRange(item), expected, `${first} to ${last}`)
    const windows = [{ lo: 3000, hi: 3400, frame: 'observed', z: null }]
    if (expected) assert.equal(taskRange({ ...item, windows })[0], Math.max(3000, first))
  }
})

test('no spike is lost if many pixels share a screen column', () => {
  const next = random(3)
  for (let round = 0; round < 60; round += 1) {
    const size = 2 + Math.floor(299 * next())
    const missing = round % 3 ? 0.1 : [0, 0.5, 1][Math.floor(3 * next())]
    const flux = pixels(size, () => (next() < missing ? NaN : 2e6 * next() - 1e6))
    const columnWidth = 0.4 * 300 ** next() // drawn as steps, as points, and in columns
    const options = { from: 0, to: size, columnWidth, factor: 1, scale: 1, withBand: true }
    const drawn = paths(
      pixels(size, (i) => 4000 + 2 * i),
      flux,
      ones(size),
      options,
    )
    const [line, band] = [drawn.line.y, drawn.band.y].map((values) => values.filter(Number.isFinite))
    const data = flux.filter(Number.isFinite)
    assert.equal(line.length > 0, data.length > 0)
    if (!data.length) continue
    assert.deepEqual([Math.min(...line), Math.max(...line)], [Math.min(...data), Math.max(...data)])
    near(Math.max(...band), Math.max(...data) + 1)
    assert.ok(line.every((value) => data.includes(value)))
  }
})

/** Increasing positions with weights from 0 to 3, as lists of different lengths. */
function* marked(seed, most) {
  const next = random(seed)
  for (let round = 0; round < 60; round += 1) {
    const positions = Array.from({ length: 1 + Math.floor(most * next()) }, () => 700 * next()).sort((a, b) => a - b)
    if (round % 4 === 0) positions.fill(positions[0], 0, positions.length >> 1)
    yield { next, positions, weights: positions.map(() => Math.floor(4 * next())) }
  }
}

const heaviest = (weights) => weights.indexOf(Math.max(...weights))

test('flags of one row never overlap, and no pole crosses a name', () => {
  for (const { next, positions, weights } of marked(5, 25)) {
    const widths = positions.map(() => 10 + 80 * next())
    const rows = placeFlags(positions, widths, weights, 2)
    const flown = positions.flatMap((left, i) =>
      rows[i] === null ? [] : [{ left, right: left + widths[i], row: rows[i] }],
    )
    assert.ok(flown.every(({ row }) => row === 0 || row === 1))
    assert.notEqual(rows[heaviest(weights)], null)
    flown.forEach((flag, i) => {
      for (const other of flown.slice(i + 1)) assert.ok(flag.right <= other.left || flag.row > other.row)
    })
  }
})

test('a name that ends at its line meets no other name', () => {
  for (const [rows, first, expected] of [
    [[0, 0], [10, 40, 10], 0],
    [[0, 0], [10, 70, 10], 1], // the other name is in the lowest row
    [[1, 0], [10, 70, 10], 0], // above it, with its leader to the left
    [[1, 0], [80, 120, 80], null], // its leader would cross the name
    [[null, 0], [80, 120, 80], 0],
  ])
    assert.equal(freeRow(rows, [first, [60, 100, 100]], 1, 2), expected, `${rows} ${first}`)
})

test('ticks are round numbers', () => {
  for (const [low, high, count, expected] of [
    [0, 10, 6, [0, 2, 4, 6, 8, 10]],
    [4999, 5051, 6, [5000, 5010, 5020, 5030, 5040, 5050]],
    [-0.3, 0.3, 3, [-0.2, 0, 0.2]],
  ])
    near(niceTicks(low, high, count).values, expected)
})
