// The controls of the spectrum view: redshift, smoothing, lines, frame and toggles, and how each key changes them.

import { lasting } from '../common/browser_storage.js'
import { cap, h } from '../common/dom.js'
import { number, parseNumber, redshift, velocity } from '../common/format.js'
import { Keys } from '../common/keys.js'
import { sentences, t, word } from '../common/language.js'
import { closeOnChoice, menuButton, sheetOf } from '../common/popover.js'
import { axisFrame } from './frames.js'
import { legend } from './legend.js'
import { C_KMS, kmsPerPixel } from './math.js'

/** What is remembered for the next visit, as it is at the first one. */
const REMEMBERED = {
  ...{ z: 0, unit: 'z', smoothing: 0, error: true, frame: 'observed', normalised: false },
  ...{ lines: true, lineList: 'few', sky: true },
}
export const FIRST = { ...REMEMBERED, unmeasured: false, brush: false, agent: false }

/** The part of a state to remember; null if `change` has none of it. */
export function remembered(state, change) {
  const names = Object.keys(REMEMBERED)
  return names.some((name) => name in change) ? Object.fromEntries(names.map((name) => [name, state[name]])) : null
}

/** Store the person's choices in this browser, without the redshift, which belongs to one spectrum. */
export const keepForNextVisit = (/** @type {any} */ state) =>
  lasting.set('so-spectrum', JSON.stringify({ ...state, z: undefined }))

/** The stored choices; empty if there are none. */
export const lastVisit = () => lasting.read('so-spectrum') ?? {}

/** The choices of smoothing, σ in pixels. */
const SMOOTHINGS = [0, 0.5, 1, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10, 15, 20]

/** The next larger (direction 1) or smaller (-1) smoothing; unchanged at the ends. */
export const nextSmoothing = (pixels, direction) =>
  (direction > 0 ? SMOOTHINGS.find((width) => width > pixels) : SMOOTHINGS.findLast((width) => width < pixels)) ??
  pixels

const LISTS = ['few', 'emission', 'absorption', 'all']
export const nextList = (list) => LISTS[(LISTS.indexOf(list) + 1) % LISTS.length]

/** The next choice of lines for one key: off, few, all, off. */
export function nextLines({ lines, lineList }) {
  if (!lines) return { lines: true, lineList: 'few' }
  return lineList === 'few' ? { lineList: 'all' } : { lines: false, lineList: 'few' }
}

/** A redshift changed by `by` in ln(1 + z): a step of the same velocity at every z. */
export const steppedRedshift = (z, by) => (1 + z) * Math.exp(by) - 1

/** One press of an arrow key in the redshift field, in ln(1 + z): 3 km/s, with Shift 30 km/s. */
const [FINE, COARSE] = [1e-5, 1e-4]

/**
 * The entries of the menu: command, text, tooltip, and the offer of the item that it needs.
 * @type {string[][]}
 */
const MENU = [
  ['sky', t('sky'), t('sky lines, telluric bands and joins of the arms: a strip at the foot of the data')],
  ['frame', t('frame'), t('rest or observed wavelengths along the bottom, the other along the top')],
  ['unit', t('z or velocity'), t('Redshift or velocity')],
  [
    'normalised',
    t('F/cont.'),
    t(
      'divide flux, error and curves by a pseudo-continuum (clipped medians in stretches of 150 Å). In a cool star ' +
        'it follows the tops between the bands',
    ),
  ],
  ['template', t('template'), t('the library spectrum that fits best'), 'templates'],
  ['model', t('model'), t("the survey pipeline's best-fitting model, from the file"), 'model'],
  ['exposures', t('exposures'), t('the single exposures of the file'), 'exposures'],
  ['unmeasured', 'ivar 0', t('draw pixels with ivar = 0 faintly; no measurement uses them'), 'unmeasured'],
  ['width-mode', t('equivalent width'), t('between two continuum points, by a drag or two key presses'), 'width'],
  ['brush', t('set window'), ''],
  ['reset', t('zoom out'), ''],
]
const KEY_OF = { 'width-mode': 'width' }
const KIND_OF = { template: 'template', model: 'model', exposures: 'exposure' }

export class Controls {
  typed = false // whether the field of the redshift has text that is not applied

  /**
   * @param {HTMLElement} host
   * @param {(command: string, argument?: *) => void} act
   * @param {{buttons: HTMLElement[], menu: () => HTMLElement[], readout: HTMLElement, hatch: () => string}} parts
   *   `buttons`, `menu`: further buttons and entries of the menu; `readout`: stands at the end of the row; `hatch`: id
   *   of the pattern of hatching
   */
  constructor(host, act, { buttons, menu, readout, hatch }) {
    this.act = act
    this.unit = h('span.so-unit')
    this.field = h('input.so-field', {
      ...{ type: 'text', inputMode: 'decimal', autocomplete: 'off', spellcheck: false, 'aria-label': t('Redshift') },
      onkeydown: (event) => this.#key(event),
      oninput: () => (this.typed = true),
      onchange: () => this.#apply(),
      onblur: () => this.#leave(),
    })
    const toFile = { onclick: () => act('z-file'), 'aria-label': t("Back to the file's redshift") }
    this.back = h('button.so-icon', toFile, '↺')
    const smoothText = (width) => t('smooth {width}', { width: widthText(width) })
    this.smoothing = this.#select('smooth', 'so-smoothing', { 'aria-label': t('Smoothing') }, SMOOTHINGS, smoothText)
    const about = { 'aria-label': t('Which lines'), title: t('Lines to draw') }
    this.list = this.#select('linelist', 'so-list', about, LISTS, word)
    const press = (command) => ({ 'data-command': command, onclick: () => act(command) })
    const button = (command, ...parts) => [command, h('button.so-button', press(command), parts)]
    const entry = (/** @type {string[]} */ [command, text, title]) => [
      command,
      menuButton(text, Keys.of(KEY_OF[command] ?? command), { ...press(command), title }),
    ]
    /** @type {Record<string, HTMLElement>} by command */
    this.toggles = Object.fromEntries([
      button('lines', t('lines')),
      button('error', t('error')),
      button('agent', t('as the agent saw it'), ' ', cap(Keys.of('agent'))),
      ...MENU.map(entry),
    ])
    const { agent, error, lines } = this.toggles
    const more = h('button.so-button.so-more', t('More ▾'))
    const sheet = sheetOf(more, 'div.so-menu', t('More'), () => [
      h('label.entry', h('span', t('lines')), this.list),
      MENU.map(([command]) => this.toggles[command]),
      menu(),
      legend(hatch()),
    ])
    closeOnChoice(sheet)
    host.classList.add('so-controls')
    host.setAttribute('role', 'toolbar')
    host.setAttribute('aria-label', t('Spectrum'))
    const redshiftChip = h('span.so-chip', this.unit, this.field, this.back)
    host.append(redshiftChip, this.smoothing, lines, error, agent, ...buttons, more, sheet, readout)
  }

  /** A list that is left once a value is chosen: the next keys are the page's. */
  #select(command, name, props, values, textOf) {
    const onchange = ({ target }) => {
      this.act(command, command === 'smooth' ? Number(target.value) : target.value)
      target.blur()
    }
    const options = values.map((value) => h('option', { value }, textOf(value)))
    return h('select', { ...props, className: name, onchange }, options)
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
    this.state = state
    if (!this.typed) this.field.value = this.#shown
    this.field.title = sentences(
      inVelocity ? `z ${redshift(state.z)}` : `cz ${velocity(state.z * C_KMS)}`,
      t(
        'Redshift tried for the lines; Enter applies, ↑ ↓ step by 3 km/s, with Shift by 30 km/s. Or right-click a ' +
          'feature in a plot and name its line',
      ),
    )
    const known = Number.isFinite(item.redshift)
    this.back.hidden = state.z === (item.redshift ?? 0)
    this.back.title = known
      ? t("Back to the file's z = {z}", { z: redshift(item.redshift) })
      : t('The file has no redshift; lines are drawn at z = 0 until you try another one')
    this.field.placeholder = known ? '' : t('unknown')
    this.field.classList.toggle('own', !this.back.hidden)
    this.smoothing.value = String(state.smoothing)
    this.smoothing.title = smoothingText(state.smoothing, item)
    this.list.value = state.lineList
    this.list.disabled = !state.lines
    const offers = { ...item.offers, unmeasured: hasUnmeasured }
    const pressed = { ...state, 'width-mode': measuring, frame: undefined }
    for (const [command, button] of Object.entries(this.toggles)) {
      const kind = KIND_OF[command]
      const on = kind ? item.overlays.some((overlay) => overlay.kind === kind) : pressed[command]
      if (typeof on === 'boolean') button.setAttribute('aria-pressed', String(on))
    }
    for (const [command, , , offer] of MENU) if (offer) this.toggles[command].hidden = !offers[offer]
    if (item.spectrum.errors === 'estimated')
      this.#name(
        'error',
        t('error (est.)'),
        t('±1σ. The file has no errors: estimated from the scatter between pixels'),
      )
    else this.#name('error', t('error'), t('±1σ from the inverse variances of the file'))
    this.#name('frame', t('frame: {frame}', { frame: word(axisFrame(item, state)) }))
    if (item.editable === false)
      this.#name('brush', t('zoom in'), t('Drag across a plot (or hold Shift) to zoom into a range'))
    else this.#name('brush', t('set window'), t("Drag across a plot (or hold Shift) to set the selected step's window"))
  }

  #name(command, text, title = this.toggles[command].title) {
    const button = this.toggles[command]
    const name = button.querySelector('span') ?? button
    name.textContent = text
    button.title = title
  }

  /** @param {string} text of the entry that resets the zoom @param {string} more for its tooltip */
  showReset(text, more) {
    this.#name('reset', text, [t('Reset the zoom of both plots'), more].filter(Boolean).join('; '))
  }

  focusRedshift() {
    this.field.focus()
    this.field.select()
  }

  get #shown() {
    const { unit, z } = this.state
    return unit === 'km/s' ? number(z * C_KMS, 1, { group: false }) : redshift(z)
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
    const inVelocity = this.state.unit === 'km/s'
    const z = inVelocity ? typed / C_KMS : typed
    const wrong = !(z > -1 && z < 20)
    this.field.setAttribute('aria-invalid', String(wrong))
    if (!wrong) {
      this.typed = false
      return this.act('z', z)
    }
    const expected = inVelocity ? t('a velocity in km/s, e.g. −120') : t('a redshift above −1, e.g. 0.00123')
    this.field.title = t('found "{value}", expected {wanted}', { value: this.field.value, wanted: expected })
  }

  #leave() {
    this.typed = false
    this.field.setAttribute('aria-invalid', 'false')
    this.field.value = this.#shown
  }
}

/** "Gaussian σ = 1.5 px (≈ 90 km/s)", the velocity at the middle of the spectrum. */
function smoothingText(pixels, { spectrum }) {
  if (!pixels) return t('no smoothing')
  const { wavelength } = spectrum
  const kms = pixels * kmsPerPixel(wavelength, wavelength[wavelength.length >> 1])
  return t('Gaussian σ = {width} px (≈ {velocity})', { width: widthText(pixels), velocity: velocity(kms) })
}

const widthText = (pixels) => number(pixels, Number.isInteger(pixels) ? 0 : 1)
