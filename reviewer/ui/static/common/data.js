// Data that the tabs share: spectra and line lists, fetched once and cached.

import { getBytes, getJSON } from './http.js'

/** A cache of the values used last. It holds promises, so two requests for the same key wait for one answer. */
export class Cache {
  /** @type {Map<string | number, Promise<any>>} */
  #values = new Map()

  /** @param {number} size */
  constructor(size) {
    this.size = size
  }

  /** @template T @param {string | number} key @param {() => Promise<T>} fetch @returns {Promise<T>} */
  get(key, fetch) {
    const value = this.#values.get(key) ?? fetch()
    if (!this.#values.delete(key)) value.catch(() => this.#values.delete(key))
    this.#values.set(key, value)
    const [oldest] = this.#values.keys()
    if (this.#values.size > this.size) this.#values.delete(oldest)
    return value
  }

  /** @param {string | number} key @param {Promise<any>} value */
  set(key, value) {
    this.#values.delete(key)
    this.get(key, () => value)
  }

  has = (/** @type {string | number} */ key) => this.#values.has(key)

  drop = (/** @type {string | number} */ key) => this.#values.delete(key)

  clear = () => this.#values.clear()
}

/**
 * A spectrum as the server packs it: uint32 header length, JSON header, then the arrays (see reviewer/web/payload.py).
 * @param {ArrayBuffer} buffer @returns {Spectrum}
 */
export function unpackSpectrum(buffer) {
  const length = new DataView(buffer).getUint32(0, true)
  const header = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, length)))
  const { n } = header
  let at = 4 + length
  const take = (/** @type {any} */ kind) => {
    const array = new kind(buffer, at, n)
    at += array.byteLength
    return array
  }
  const [wavelength, ivar, flux, mask] = [Float64Array, Float64Array, Float32Array, Uint8Array].map(take)
  return { ...header, wavelength, flux, ivar, mask }
}

/** @param {string} path @returns {Promise<Spectrum>} */
export const getSpectrum = async (path) => unpackSpectrum(await getBytes(path))

const atlases = new Cache(40)

/** The lines and bands to draw for a task on spectra of a survey. @returns {Promise<Atlas>} */
export function getAtlas(/** @type {string} */ survey, /** @type {string} */ task) {
  const query = String(new URLSearchParams({ survey, task }))
  return atlases.get(query, () => getJSON(`/api/v1/atlas?${query}`))
}
