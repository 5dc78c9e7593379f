// What the tests for `node --test` share.

import assert from 'node:assert/strict'

/** Numbers and arrays of numbers that agree to a relative and an absolute tolerance; NaN agrees with NaN. */
export function near(actual, expected, { rel = 1e-9, abs = 1e-12 } = {}) {
  const [found, wanted] = [actual, expected].map((values) => (typeof values === 'number' ? [values] : [...values]))
  assert.equal(found.length, wanted.length, 'lengths')
  found.forEach((value, i) => {
    const agree = Object.is(value, wanted[i]) || Math.abs(value - wanted[i]) <= Math.max(abs, rel * Math.abs(wanted[i]))
    assert.ok(agree, `index ${i}: found ${value}, expected ${wanted[i]}`)
  })
}

/** Random numbers in [0, 1) that are the same in each run (mulberry32). @returns {() => number} */
export function random(seed) {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** A normal deviate of σ = 1 (Box and Muller). @param {() => number} next */
export const normal = (next) => Math.sqrt(-2 * Math.log(1 - next())) * Math.cos(2 * Math.PI * next())

/** An array of `length` values of the index. @param {(i: number) => number} value */
export const pixels = (length, value) => Float64Array.from({ length }, (_, i) => value(i))
