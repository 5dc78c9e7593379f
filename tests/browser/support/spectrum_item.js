// An item from the JSON of spectrum_page.py: arrays are {"dtype", "base64"}, little-endian.

const KINDS = { float64: Float64Array, float32: Float32Array, uint8: Uint8Array }

/** The typed array of {"dtype", "base64"}. */
export function decodeArray({ dtype, base64 }) {
  const kind = KINDS[dtype]
  if (!kind) throw new Error(`spectrum item: found an array of ${dtype}, expected ${Object.keys(KINDS).join(', ')}`)
  const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0))
  return new kind(bytes.buffer)
}

/** The item that `SpectrumView.show` takes, from its JSON form. */
export function decodeItem(json) {
  const { wavelength, flux, ivar, mask, ...about } = json.spectrum
  const spectrum = {
    ...about,
    wavelength: decodeArray(wavelength),
    flux: decodeArray(flux),
    ivar: decodeArray(ivar),
    mask: decodeArray(mask),
  }
  return { ...json, spectrum }
}
