// The review aids of one spectrum view: which template, model or exposures are drawn with the data, and what the server
// has measured. Everything is fetched on request and cached.

import { Cache } from '../common/data.js'
import { h } from '../common/dom.js'
import { number, plusMinus, significant } from '../common/format.js'
import { getJSON } from '../common/http.js'
import { t } from '../common/language.js'
import { copyText } from '../common/panels.js'
import { axisFrame, shownFactor } from '../spectrum/frames.js'
import { inMedium } from '../spectrum/math.js'
import { curvesOf } from './epochs.js'

/**
 * What is shown; `hidden`: whether the answer of the item is hidden until the person has given a verdict.
 * `query`: what requests for other items name.
 * @typedef {{sha256: string, task: string, spectrum: Spectrum, item?: number, hidden?: boolean,
 *   query?: Record<string, string>}} Subject
 */

const answers = new Cache(60)

/** @param {string} path @param {Record<string, any>} [query] @returns {Promise<any>} */
function getKept(path, query) {
  const url = query ? `${path}?${new URLSearchParams(query)}` : path
  return answers.get(url, () => getJSON(url))
}

/** Event: "template" after another template, or none, is drawn. */
export class Aids extends EventTarget {
  /** @type {Subject | null} */
  subject = null
  /** @type {string | null} the id of the template that is drawn */
  chosen = null
  /** @type {import('../spectrum/overlays.js').Overlay[]} */
  #overlays = []
  #ticket = 0

  /**
   * @param {{name: string, view: () => import('../spectrum/view.js').SpectrumView,
   *   notices: import('../common/notices.js').Notices}} options `name` of the desk
   */
  constructor({ name, view, notices }) {
    super()
    this.name = name
    this.view = view
    this.notices = notices
  }

  /** Another spectrum is shown, without overlays. @param {Subject | null} subject */
  show(subject) {
    this.subject = subject
    this.#overlays = []
    this.#ticket += 1
    this.#setChosen(null)
  }

  /** What can be drawn with a spectrum, for the buttons of the view. @param {Spectrum} spectrum */
  static offers = ({ model, exposures }) => ({ templates: true, width: true, model, exposures })

  /** A key or a button: show these curves, or remove them. @param {string} kind */
  overlay(kind) {
    if (!this.subject) return
    /** @type {Record<string, () => Promise<void>>} */
    const shown = {
      template: () => this.#toggleTemplate(),
      'template-next': () => this.#step(1),
      model: () => this.#toggle('model', () => this.#model()),
      exposures: () => this.#toggle('exposure', () => this.#exposures()),
      epochs: () => this.#toggle('epoch', () => this.#epochs()),
    }
    const { model, exposures } = this.subject.spectrum
    if (kind === 'model' && !model) this.notices.toast(t('This file has no pipeline model.'))
    else if (kind === 'exposures' && !exposures) this.notices.toast(t('This file has no single exposures.'))
    else shown[kind]().catch((error) => this.notices.error(error))
  }

  /** Whether curves of a kind are drawn. @param {string} kind */
  draws = (kind) => this.#overlays.some((overlay) => overlay.kind === kind)

  /** @param {number} lo @param {number} hi wavelengths of the data (Å); measured in the frame of the shown axis */
  async measure(lo, hi) {
    const { subject } = this
    if (!subject) throw new Error(t('There is no spectrum to measure.'))
    const { item, state } = this.view()
    const frame = axisFrame(item, state)
    const factor = shownFactor(subject.spectrum, state.z, frame)
    const span = [lo * factor, hi * factor]
    const place = { lo: span[0], hi: span[1], frame, medium: subject.spectrum.medium, z: state.z }
    const measured = await getKept('/api/v1/measure', { spectrum: subject.sha256, ...place })
    const continuum = measured.continuum?.map(([wavelength, flux]) => [wavelength / factor, flux])
    return { ...measured, continuum, frame, span }
  }

  /** @param {string} text */
  copy = (text) => copyText(text, (message) => this.notices.toast(message))

  lines = () => this.#of('lines')
  loci = () => this.#of('loci')
  templates = () => this.#of('templates')
  // Not kept: items are approved meanwhile.
  similar = () =>
    getJSON(`/api/v1/item/${this.subject?.item}/similar${this.subject?.hidden ? '?verdict_first=true' : ''}`)

  // Not kept: names and types come with the person's own verdict.
  sky = () => getJSON(`/api/v1/spectrum/${this.subject?.sha256}/sky`)
  /** @param {string} band of a light curve */
  period = (band) => getKept(`/api/v1/spectrum/${this.subject?.sha256}/sky/period`, { band })

  /** Draw the fluxes of catalogues on the spectrum, or no longer. @param {SkyPanel} panel */
  drawSky = (panel) => this.#toggle('sed', async () => [fluxOverlay(panel, this.view().item.spectrum)])

  /** @param {string} what */
  #of(what) {
    const { sha256, task } = /** @type {Subject} */ (this.subject)
    return getKept(`/api/v1/spectrum/${sha256}/${what}`, { task })
  }

  /** Draw a template of the ranking. @param {any} match */
  async choose(match) {
    const { subject } = this
    if (!subject) return
    const ticket = ++this.#ticket
    this.#setChosen(match.id)
    const template = await getKept(`/api/v1/templates/${encodeURIComponent(match.id)}`, { spectrum: subject.sha256 })
    if (ticket !== this.#ticket) return
    this.#setOverlays('template', [templateOverlay(template, match)])
  }

  async #toggleTemplate() {
    if (!this.chosen) return this.#step(0)
    this.#ticket += 1
    this.#setChosen(null)
    this.#setOverlays('template', [])
  }

  /** Draw the template `by` places further in the ranking; after the last one the first. @param {number} by */
  async #step(by) {
    const { subject } = this
    const { matches, note } = await this.templates()
    if (subject !== this.subject) return
    if (!matches.length) return this.notices.toast(note)
    const at = matches.findIndex((match) => match.id === this.chosen)
    await this.choose(matches[at < 0 ? 0 : (at + by) % matches.length])
  }

  /** @param {string} kind @param {() => Promise<import('../spectrum/overlays.js').Overlay[]>} fetch */
  async #toggle(kind, fetch) {
    const { subject } = this
    const overlays = this.draws(kind) ? [] : await fetch()
    if (subject === this.subject) this.#setOverlays(kind, overlays)
  }

  async #model() {
    const { sha256, spectrum } = /** @type {Subject} */ (this.subject)
    const { flux, name } = await getKept(`/api/v1/spectrum/${sha256}/model`)
    return [{ kind: /** @type {const} */ ('model'), name, wavelength: spectrum.wavelength, flux }]
  }

  async #exposures() {
    const { sha256 } = /** @type {Subject} */ (this.subject)
    const { exposures } = await getKept(`/api/v1/spectrum/${sha256}/exposures`)
    return exposures.map((exposure) => ({ kind: 'exposure', ...exposure }))
  }

  // Not kept: what the person may see changes.
  async #epochs() {
    const { item, query } = /** @type {Subject} */ (this.subject)
    return curvesOf(await getJSON(`/api/v1/item/${item}/epochs?${new URLSearchParams({ ...query, curves: 'true' })}`))
  }

  /** @param {string} kind @param {import('../spectrum/overlays.js').Overlay[]} overlays */
  #setOverlays(kind, overlays) {
    this.#overlays = [...this.#overlays.filter((overlay) => overlay.kind !== kind), ...overlays]
    this.view().update({ overlays: this.#overlays })
  }

  /** @param {string | null} id */
  #setChosen(id) {
    this.chosen = id
    this.dispatchEvent(new Event('template'))
  }
}

/** How the numbers of a pane are found, folded. @param {string} title @param {(string | undefined)[]} texts */
export const about = (title, ...texts) =>
  h(
    'details.about',
    h('summary', title),
    texts.map((text) => text && h('p', text)),
  )

/** The velocity of a match: "−12 ± 5 km/s"; without an error χ² has no minimum in the range tried. */
export const velocityText = ({ velocity, velocity_error: error }, unit = 'km/s') =>
  error === null ? t('no velocity') : plusMinus({ value: velocity, error, unit })

/** χ² per degree of freedom of a match. */
export const chi2Text = ({ reduced_chi2: chi2 }) =>
  chi2 < 0.01 ? '< 0.01' : chi2 < 100 ? significant(chi2, 3) : number(chi2)

/** @param {SkyPanel} panel @param {Spectrum} spectrum @returns {import('../spectrum/overlays.js').Overlay} */
export function fluxOverlay({ bands, sed_scale: scale, sed_note: note }, spectrum) {
  const labels = bands.map(({ name }) => name)
  // Catalogues observed; data at rest have their wavelengths divided by 1 + z of the file.
  const stretch = shownFactor(spectrum, spectrum.redshift ?? 0, 'observed')
  return {
    ...{ kind: /** @type {const} */ ('sed'), name: t('catalogue fluxes'), title: note },
    wavelength: bands.map(({ wavelength }) => inMedium(wavelength, 'vacuum', spectrum.medium) / stretch),
    flux: bands.map(({ flux }) => flux * (scale ?? NaN)),
    points: { labels, error: bands.map((band) => band.flux_error / band.flux) },
  }
}

function templateOverlay(template, match) {
  const { name, medium, wavelength, flux, multiplier, z, source, citation, licence } = template
  return {
    ...{ kind: /** @type {const} */ ('template'), name, medium, z, wavelength },
    flux: flux.map((value, i) => value * multiplier[i]),
    note: [source, velocityText(match), `χ²ν ${chi2Text(match)}`].filter(Boolean).join(' · '),
    title: [citation, licence && t('licence: {licence}', { licence })].filter(Boolean).join('; '),
  }
}
