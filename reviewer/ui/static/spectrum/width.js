// The equivalent width between two continuum points, as `e` of IRAF's splot measures it: a drag from one point to the
// other, or two key presses at the pointer, or at a cursor that the arrow keys move. The server measures.

import { fill, h } from '../common/dom.js'
import { angstrom, copyable, number, plusMinus, significant } from '../common/format.js'
import { t, word } from '../common/language.js'
import { ordered } from './gestures.js'
import { stand } from './marks.js'
import { borders, nearest, quantile } from './math.js'

const SAMPLES = 32 // pieces of the drawn line, which is no straight one in the normalised view
const EDGE = 2 // pixels on either side of an edge whose median is its level while it is dragged

export class WidthTool {
  on = false
  whole = '' // the result as text to copy
  at = 0 // of the cursor, in the data's wavelengths
  #ticket = 0

  /**
   * @param {Object} options
   * @param {() => import('./panel.js').Panel[]} options.panels the window, and the whole spectrum
   * @param {(lo: number, hi: number) => Promise<any>} options.measure between two wavelengths of the data
   * @param {(text: string) => void} options.copy
   * @param {() => void} options.changed the mode has been turned on or off
   * @param {() => void} options.redraw the line has moved
   */
  constructor({ panels, measure, copy, changed, redraw }) {
    this.panels = panels
    this.measure = measure
    this.copied = copy
    this.changed = changed
    this.redraw = redraw
    /** @type {any} its flux, NaN where there is none */
    this.data = null
    /** @type {number | null} the first of two key presses, in the data's wavelengths */
    this.first = null
    /** @type {number[][] | null} the two ends of the line, [wavelength, flux] */
    this.ends = null
    /** @type {any} the panel of the cursor */
    this.panel = null
    this.text = h('output.so-width-text')
    this.copy = h('button.so-small', { onclick: () => copy(this.whole) }, t('copy'))
    const clear = h('button.so-small', { onclick: () => this.close() }, t('close'))
    this.root = h('div.so-width-result', { hidden: true, role: 'status' }, this.text, this.copy, clear)
    this.cursor = h('div.so-width-cursor', {
      ...{ tabIndex: 0, role: 'slider', hidden: true },
      'aria-label': t('Continuum point: arrow keys move it, Enter sets it'),
      onkeydown: (event) => this.#key(event),
      onblur: () => this.#placeCursor(null),
    })
  }

  /** Another spectrum is shown: nothing is measured on it yet. */
  show(spectrum, data) {
    this.spectrum = spectrum
    this.data = data
    this.#end()
    this.#placeCursor(null)
  }

  /** Turn the mode on or off. @param {boolean} on */
  set(on) {
    if (!on) return this.close()
    this.on = true
    this.#say(t('Drag from continuum to continuum across a line. Or W at the first point and W at the second.'))
    this.changed()
  }

  #end() {
    this.#ticket += 1
    this.on = false
    this.first = this.ends = null
    this.root.hidden = true
  }

  /** Leave the mode and remove the line. */
  close() {
    this.#end()
    if (document.activeElement === this.cursor) this.cursor.blur()
    this.changed()
    this.redraw()
  }

  /**
   * The key: turns the mode on, then sets the first and the second point, at the pointer or at the cursor.
   * @param {{panel: any, wavelength: number} | null | undefined} pointed where the pointer is
   */
  press(pointed) {
    if (!this.on) this.set(true)
    if (!this.cursor.hidden) this.#point(this.at)
    else if (pointed) this.#point(pointed.wavelength)
    else this.#startCursor()
  }

  /** A drag over the data's wavelengths; final: it has ended; null: cancelled. */
  drag(/** @type {number[] | undefined | null} */ span, final) {
    if (span !== undefined) {
      this.ends = span && span.map((wavelength) => [wavelength, this.#level(wavelength)])
      this.redraw()
    }
    if (final && this.ends) this.#send([this.ends[0][0], this.ends[1][0]])
  }

  /** The points of the line that a panel draws, [wavelength, flux as drawn]; null without a line. */
  drawn(/** @type {Float64Array | null} */ continuum) {
    if (!this.ends) return null
    const [[from, low], [to, high]] = this.ends
    return Array.from({ length: SAMPLES + 1 }, (_, k) => {
      const fraction = k / SAMPLES
      const at = from + fraction * (to - from)
      const level = low + fraction * (high - low)
      return [at, continuum ? level / continuum[nearest(this.spectrum.wavelength, at)] : level]
    })
  }

  #point(wavelength) {
    if (this.first === null) {
      this.first = wavelength
      const at = angstrom(wavelength)
      return this.#say(t('First continuum point {wavelength}. W at the second one; Esc ends.', { wavelength: at }))
    }
    const span = ordered(this.first, wavelength)
    this.first = null
    if (span[0] < span[1]) this.drag(span, true)
  }

  async #send([lo, hi]) {
    const ticket = ++this.#ticket
    this.#say(t('measuring …'))
    try {
      const result = await this.measure(lo, hi)
      if (ticket !== this.#ticket) return
      if (result.continuum) this.ends = result.continuum
      const { short, whole } = resultTexts(result, this.spectrum.medium, this.copied)
      this.#say(short, whole)
      this.redraw()
    } catch (error) {
      if (ticket === this.#ticket) this.#say(error.message)
    }
  }

  /** @param {any} text @param {string} [whole] a result: the text to copy */
  #say(text, whole = '') {
    this.root.hidden = false
    fill(this.text, text)
    this.text.title = whole ? `${whole}. ${DEFINITION}` : ''
    this.whole = whole
    this.copy.hidden = !whole
  }

  /** The level of the data at an edge: the median of the pixels about it. */
  #level(wavelength) {
    const i = nearest(this.spectrum.wavelength, wavelength)
    return quantile(this.data.flux.slice(Math.max(0, i - EDGE), i + EDGE + 1), 0.5)
  }

  #startCursor() {
    const [step, full] = this.panels()
    const panel = step.range ? step : full
    if (!panel.geometry) return
    const [lo, hi] = panel.geometry.range
    panel.layer.append(this.cursor)
    this.panel = panel
    this.#placeCursor((lo + hi) / 2)
    this.cursor.focus()
  }

  /** @param {number | null} wavelength */
  #placeCursor(wavelength) {
    this.cursor.hidden = wavelength === null
    if (wavelength === null || !this.panel) return
    const { geometry } = this.panel
    this.at = Math.max(geometry.range[0], Math.min(geometry.range[1], wavelength))
    stand(this.cursor, geometry, geometry.x(this.at))
    this.cursor.setAttribute('aria-valuenow', this.at.toFixed(2))
    this.cursor.setAttribute('aria-valuetext', angstrom(this.at))
    if (this.first !== null) this.drag(ordered(this.first, this.at), false)
  }

  #key(event) {
    if (event.ctrlKey || event.altKey || event.metaKey) return
    const { wavelength } = this.spectrum
    const [left, right] = borders(wavelength, nearest(wavelength, this.at))
    const step = (right - left) * (event.shiftKey ? 10 : 1)
    const [lo, hi] = this.panel.geometry.range
    const to = { ArrowLeft: this.at - step, ArrowRight: this.at + step, Home: lo, End: hi }[event.key]
    if (to !== undefined) this.#placeCursor(to)
    else if (event.key === 'Enter') this.#point(this.at)
    else if (event.key === 'Escape') this.close()
    else return
    event.preventDefault()
    event.stopPropagation()
  }
}

const DEFINITION = t(
  'Equivalent width ∫ (1 − F/C) dλ between the two points, positive in absorption; C is the straight line through ' +
    'the pixels about them. Centroid and FWHM are those of one Gaussian on that line',
)

/**
 * The result: {short}, to be read, with numbers that a click copies, and {whole}, to be copied.
 * @param {any} result @param {string} medium @param {(text: string) => void} copy
 */
function resultTexts({ ew, flux, centroid, fwhm, continuum, reason, frame, span: [lo, hi] }, medium, copy) {
  const missing = reason ? t('undefined: {reason}', { reason }) : ''
  const middle = continuum ? (continuum[0][1] + continuum[1][1]) / 2 : NaN
  const clickable = (measured, unit, text) =>
    measured && h('span.number', { onclick: () => copy(copyable(measured, unit)) }, text(plusMinus(measured)))
  const read = [
    clickable(ew, 'Å', (text) => t('EW {value} Å (absorption > 0)', { value: text })),
    clickable(centroid, 'Å', () => t('centroid {value} Å', { value: plusMinus(centroid, { group: false }) })),
    clickable(fwhm, 'km/s', (text) => `FWHM ${text} km/s`),
    ew && t('continuum {value}', { value: significant(middle, 4) }),
    `${word(frame)}, ${word(medium)}`,
    missing,
  ].filter(Boolean)
  const value = flux && `${significant(flux.value, 3)} ± ${significant(flux.error, 2)} ${flux.unit}`
  const range = `${number(lo, 1, { group: false })} – ${number(hi, 1, { group: false })} Å`
  const more = [flux && t('flux {value}', { value }), range]
  const whole = [...read, ...more].map((part) => part?.textContent ?? part).filter(Boolean)
  return { short: read.flatMap((part, k) => (k ? [' · ', part] : part)), whole: whole.join(' · ') }
}
