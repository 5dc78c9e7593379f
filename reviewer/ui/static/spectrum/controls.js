// The controls of the spectrum view: redshift, smoothing, lines, frame and toggles, and how each key changes them.

import { lasting } from '../common/browser_storage.js'
import { h, part } from '../common/dom.js'
import { number, parseNumber, redshift, velocity } from '../common/format.js'
import { Keys } from '../common/keys.js'
import { t, word } from '../common/language.js'
import { axisFrame } from './frames.js'
import { C_KMS, kmsPerPixel } from './math.js'

/** The parts of the state that are remembered for the next visit. */
const REMEMBERED = ['z', 'unit', 'smoothing', 'error', 'lines', 'lineList', 'sky', 'frame', 'normalised']

export const FIRST = {
  z: 0,
  unit: 'z',
  smoothing: 0,
  error: true,
  lines: true,
  lineList: 'few',
  sky: true,
  frame: 'observed',
  normalised: false,
  unmeasured: false,
  brush: false,
}

/** The part of a state to remember; null if `change` has none of it. */
export function remembered(state, change) {
  if (!REMEMBERED.some((name) => name in change)) return null
  return Object.fromEntries(REMEMBERED.map((name) => [name, state[name]]))
}

/** Store the person's choices in this browser, without the redshift, which belongs to one spectrum. */
export const keepForNextVisit = (/** @type {any} */ state) =>
  lasting.set('so-spectrum', JSON.stringify({ ...state, z: undefined }))

/** The stored choices; empty if there are none. */
export const lastVisit = () => lasting.read('so-spectrum') ?? {}

/** The choices of smoothing, σ in pixels. */
const SMOOTHINGS = [0, 0.5, 1, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10, 15, 20]

/** The next larger (direction 1) or smaller (-1) smoothing; unchanged at the ends. */
export function nextSmoothing(pixels, direction) {
  const next =
    direction > 0 ? SMOOTHINGS.find((width) => width > pixels) : SMOOTHINGS.findLast((width) => width < pixels)
  return next ?? pixels
}

export const nextList = (list) => ({ few: 'emission', emission: 'absorption', absorption: 'all', all: 'few' })[list]

/** The next choice of lines for one key: off, few, all, off. */
export function nextLines({ lines, lineList }) {
  if (!lines) return { lines: true, lineList: 'few' }
  return lineList === 'few' ? { lineList: 'all' } : { lines: false, lineList: 'few' }
}

/** A redshift changed by `by` in ln(1 + z): a step of the same velocity at every z. */
export const steppedRedshift = (z, by) => (1 + z) * Math.exp(by) - 1

/** One press of an arrow key in the redshift field, in ln(1 + z): 3 km/s, with Shift 30 km/s. */
const FINE = 1e-5
const COARSE = 1e-4

/** Command, text, the offer of the item that it needs, and the kind of overlay that it shows. */
const OVERLAYS = [
  ['template', t('template'), 'templates', 'template'],
  ['model', t('model'), 'model', 'model'],
  ['exposures', t('exposures'), 'exposures', 'exposure'],
]

/** The tooltip of an overlay's button. @type {Record<string, () => string>} */
const OVERLAY_TITLES = {
  template: () =>
    t('{key}: the library spectrum that fits best; {key2}: the next one', {
      key: Keys.of('template'),
      key2: Keys.of('template-next'),
    }),
  model: () => t("{key}: the survey pipeline's best-fitting model, from the file", { key: Keys.of('model') }),
  exposures: () => t('{key}: the single exposures of the file', { key: Keys.of('exposures') }),
}

export class Controls {
  /**
   * @param {HTMLElement} host
   * @param {(command: string, argument?: *) => void} act
   */
  constructor(host, act) {
    this.act = act
    this.unit = h(
      'button.so-unit',
      { type: 'button', title: t('Redshift or velocity'), onclick: () => act('unit') },
      'z',
    )
    this.field = h('input.so-field', {
      type: 'text',
      inputMode: 'decimal',
      autocomplete: 'off',
      spellcheck: false,
      'aria-label': t('Redshift'),
      title: t(
        'Redshift tried for the lines; Enter applies, ↑ ↓ step by 3 km/s, with Shift by 30 km/s. Or right-click a ' +
          'feature in a plot and name its line',
      ),
      onkeydown: (event) => this.#key(event),
      oninput: () => {
        this.typed = true
      },
      onchange: () => this.#apply(),
      onblur: () => this.#leave(),
    })
    this.other = h('output.so-other')
    this.back = h(
      'button.so-icon',
      { type: 'button', onclick: () => act('z-file'), 'aria-label': t("Back to the file's redshift") },
      '↺',
    )
    this.smoothing = h('output.so-smoothing')
    this.toggles = ['error', 'lines', 'sky'].map((name) => this.#toggle(name))
    this.list = h(
      'select.so-list',
      { 'aria-label': t('Which lines'), title: t('Lines to draw'), onchange: () => act('linelist', this.list.value) },
      ['few', 'emission', 'absorption', 'all'].map((name) => h('option', { value: name }, word(name))),
    )
    this.frame = h('button.so-button', {
      type: 'button',
      title: t('Rest or observed wavelengths along the bottom (the other along the top)'),
      onclick: () => act('frame'),
    })
    this.overlays = OVERLAYS.map(([command, text]) => {
      const title = OVERLAY_TITLES[command]()
      return h('button.so-button', { type: 'button', title, hidden: true, onclick: () => act(command) }, text)
    })
    this.normalised = h(
      'button.so-button',
      {
        type: 'button',
        title: t(
          '{key}: divide flux, error and curves by a pseudo-continuum (clipped medians in stretches of 150 Å). In a ' +
            'cool star it follows the tops between the bands',
          { key: Keys.of('normalised') },
        ),
        onclick: () => act('normalised'),
      },
      t('F/cont.'),
    )
    this.unmeasured = h(
      'button.so-button',
      {
        type: 'button',
        title: t('{key}: draw pixels with ivar = 0 faintly. They stay out of ranges and measurements', {
          key: Keys.of('unmeasured'),
        }),
        hidden: true,
        onclick: () => act('unmeasured'),
      },
      'ivar 0',
    )
    this.measuring = h(
      'button.so-button',
      {
        type: 'button',
        title: t('{key}: equivalent width between two continuum points, by a drag or two key presses', {
          key: Keys.of('width'),
        }),
        onclick: () => act('width-mode'),
      },
      'EW',
    )
    this.brush = h('button.so-button.so-brush-button', { type: 'button', onclick: () => act('brush') }, t('set window'))
    this.reset = h('button.so-button', { type: 'button', onclick: () => act('reset') }, t('reset'))
    const lines = this.toggles[1]
    host.classList.add('so-controls')
    host.setAttribute('role', 'toolbar')
    host.setAttribute('aria-label', t('Spectrum'))
    host.append(
      h('span.so-chip', {}, this.unit, this.field, this.other, this.back),
      h(
        'span.so-chip',
        {},
        this.#step('smooth-', '−', t('Smooth less')),
        this.smoothing,
        this.#step('smooth+', '+', t('Smooth more')),
      ),
      this.toggles[0],
      this.normalised,
      h('span.so-chip', {}, lines, this.list),
      this.toggles[2],
      this.frame,
      this.measuring,
      this.unmeasured,
      ...this.overlays,
      this.brush,
      this.reset,
    )
    for (const toggle of [0, 2]) this.toggles[toggle].classList.add('so-chip')
  }

  /**
   * Show a state; a field in which the person is typing is not changed.
   * @param {any} state @param {any} item
   * @param {{measuring: boolean, hasUnmeasured: boolean}} now whether a drag measures an equivalent width, and
   *   whether the file has fluxes without a variance
   */
  render(state, item, { measuring, hasUnmeasured }) {
    const inVelocity = state.unit === 'km/s'
    this.unit.textContent = inVelocity ? 'cz' : 'z'
    if (!this.typed) this.field.value = this.#shown(state)
    this.other.textContent = inVelocity ? `km/s · z ${redshift(state.z)}` : `cz ${velocity(state.z * C_KMS)}`
    this.#file(item, state)
    this.smoothing.textContent = smoothingText(state.smoothing, item)
    for (const toggle of this.toggles) {
      const box = /** @type {HTMLInputElement} */ (part(toggle, 'input'))
      box.checked = Boolean(state[toggle.dataset.name ?? ''])
    }
    part(this.toggles[0], 'span').textContent = item.spectrum.errors === 'estimated' ? t('error (est.)') : t('error')
    this.toggles[0].title =
      item.spectrum.errors === 'estimated'
        ? t('±1σ. The file has no errors: estimated from the scatter between pixels')
        : t('±1σ from the inverse variances of the file')
    this.overlays.forEach((button, at) => {
      const [, , offer, kind] = OVERLAYS[at]
      button.hidden = !item.offers[offer]
      button.setAttribute('aria-pressed', String(item.overlays.some((overlay) => overlay.kind === kind)))
    })
    this.normalised.setAttribute('aria-pressed', String(state.normalised))
    this.unmeasured.hidden = !hasUnmeasured
    this.unmeasured.setAttribute('aria-pressed', String(state.unmeasured))
    this.measuring.hidden = !item.offers.width
    this.measuring.setAttribute('aria-pressed', String(measuring))
    this.list.value = state.lineList
    this.list.disabled = !state.lines
    this.frame.textContent = t('frame: {frame}', { frame: word(axisFrame(item, state)) })
    this.brush.setAttribute('aria-pressed', String(state.brush))
    this.brush.textContent = item.editable === false ? t('zoom in') : t('set window')
    this.brush.title =
      item.editable === false
        ? t('Drag across a plot (or hold Shift) to zoom into a range')
        : t("Drag across a plot (or hold Shift) to set the selected step's window")
    this.state = state
  }

  /** @param {string} text of the button that resets the zoom @param {string} more for its tooltip */
  showReset(text, more) {
    this.reset.textContent = text
    this.reset.title = [t('Reset the zoom of both plots'), more].filter(Boolean).join('; ')
  }

  focusRedshift() {
    this.field.focus()
    this.field.select()
  }

  #file(item, state) {
    const known = Number.isFinite(item.redshift)
    this.back.disabled = state.z === (item.redshift ?? 0)
    this.back.title = known
      ? t("Back to the file's z = {z}", { z: redshift(item.redshift) })
      : t('The file has no redshift; lines are drawn at z = 0 until you try another one')
    this.field.placeholder = known ? '' : t('unknown')
    this.field.classList.toggle('own', !this.back.disabled)
  }

  #shown(state) {
    return state.unit === 'km/s' ? number(state.z * C_KMS, 1, { group: false }) : redshift(state.z)
  }

  #toggle(name) {
    const text = { error: t('error'), lines: t('lines'), sky: t('sky') }[name]
    return h(
      'label',
      { 'data-name': name },
      h('input', { type: 'checkbox', onchange: (event) => this.act(name, event.target.checked) }),
      h('span', {}, text),
    )
  }

  #step(command, text, title) {
    return h('button.so-icon', { type: 'button', title, 'aria-label': title, onclick: () => this.act(command) }, text)
  }

  #key(event) {
    if (event.key === 'Enter') {
      this.#apply()
      if (!this.typed) this.field.blur()
    } else if (event.key === 'Escape') this.field.blur()
    else if (event.key === 'ArrowUp' || event.key === 'ArrowDown') {
      event.preventDefault()
      this.typed = false
      const by = (event.key === 'ArrowUp' ? 1 : -1) * (event.shiftKey ? COARSE : FINE)
      this.act('z', steppedRedshift(this.state.z, by))
    }
  }

  /** Apply the typed value. A value that was not typed is not read: it is shown rounded. */
  #apply() {
    if (!this.typed) return
    const typed = parseNumber(this.field.value)
    const z = this.state.unit === 'km/s' ? typed / C_KMS : typed
    const wrong = !(z > -1 && z < 20)
    this.field.setAttribute('aria-invalid', String(wrong))
    if (wrong) {
      const expected =
        this.state.unit === 'km/s' ? t('a velocity in km/s, e.g. −120') : t('a redshift above −1, e.g. 0.00123')
      this.field.title = t('found "{value}", expected {wanted}', { value: this.field.value, wanted: expected })
      return
    }
    this.typed = false
    this.act('z', z)
  }

  #leave() {
    this.typed = false
    this.field.setAttribute('aria-invalid', 'false')
    this.field.value = this.#shown(this.state)
  }
}

/** "Gaussian σ = 1.5 px (≈ 90 km/s)", the velocity at the middle of the spectrum. */
export function smoothingText(pixels, { spectrum }) {
  if (!pixels) return t('no smoothing')
  const { wavelength } = spectrum
  const kms = pixels * kmsPerPixel(wavelength, wavelength[wavelength.length >> 1])
  const width = number(pixels, Number.isInteger(pixels) ? 0 : 1)
  return t('Gaussian σ = {width} px (≈ {velocity})', { width, velocity: velocity(kms) })
}
