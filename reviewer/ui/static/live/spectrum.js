// The right side of the Live tab: the spectrum in front, the lines of the question, the windows of the trace.

import { Cache, getAtlas, getSpectrum } from '../common/data.js'
import { h } from '../common/dom.js'
import { t } from '../common/language.js'
import { Aids } from '../evidence/aids.js'
import { Evidence } from '../evidence/drawer.js'
import { keepForNextVisit, lastVisit } from '../spectrum/controls.js'
import { SpectrumView } from '../spectrum/view.js'

/** @typedef {{row: BenchRow, spectrum: Spectrum, task: string, atlas: Atlas}} ShownSpectrum */

export class LiveSpectrum {
  #spectra = new Cache(24)
  #drawn = '' // what is drawn, to skip drawing the same again

  /**
   * @param {(id: string) => void} onSelect a window was chosen on the spectrum
   * @param {import('../common/notices.js').Notices} notices
   * @param {() => {url: string, title: string} | null} picture what the agent saw
   * @param {() => HTMLElement} guide
   */
  constructor(onSelect, notices, picture, guide) {
    this.root = h('section.spectrum.absent', { 'aria-label': t('Spectrum') })
    const button = Evidence.button()
    this.view = new SpectrumView(this.root, {
      onSelect,
      picture,
      buttons: [button],
      onState: keepForNextVisit,
      onOverlay: (kind) => this.aids.overlay(kind),
      measure: (lo, hi) => this.aids.measure(lo, hi),
      copy: (text) => this.aids.copy(text),
      state: lastVisit(),
    })
    this.aids = new Aids({ name: 'live', view: () => this.view, notices })
    this.evidence = new Evidence({
      ...{ aids: this.aids, name: 'live', panes: ['lines', 'loci', 'templates', 'sky'], button },
      own: { guide: { title: t('Guide'), draw: guide } },
    })
    /** @type {ShownSpectrum | null} */
    this.shown = null
  }

  /** Fetch what `show` needs. @param {BenchRow} row @param {string} task @returns {Promise<ShownSpectrum>} */
  async fetch(row, task) {
    const fetched = this.#spectra.get(row.spectrum, () => getSpectrum(`/api/v1/live/spectrum/${row.spectrum}`))
    const [spectrum, atlas] = await Promise.all([fetched, getAtlas(row.survey, task)])
    return { row, spectrum, task, atlas }
  }

  /** Show a spectrum without windows. @param {ShownSpectrum} shown */
  show(shown) {
    this.shown = shown
    const { row, spectrum, task, atlas } = shown
    this.root.classList.remove('absent')
    this.aids.show({ sha256: row.spectrum, task, spectrum })
    this.evidence.update()
    const { lines, bands, range } = atlas
    this.view.show({
      ...{ id: row.id, spectrum, redshift: spectrum.redshift, windows: [], lines, bands, range },
      ...{ offers: Aids.offers(spectrum), editable: false },
    })
    this.#drawn = '[]'
  }

  hide() {
    this.shown = null
    this.root.classList.add('absent')
    this.aids.show(null)
    this.evidence.update()
  }

  /** Draw the lines of another question. @param {string} task */
  async setTask(task) {
    const { shown } = this
    if (!shown || task === shown.task) return
    const atlas = await getAtlas(shown.row.survey, task)
    Object.assign(shown, { task, atlas })
    if (shown === this.shown) this.show(shown)
  }

  /**
   * Draw the windows of the trace; false where nothing has changed.
   * @param {StepWindow[]} windows @param {string | null | undefined} selected
   */
  showWindows(windows, selected) {
    const key = JSON.stringify([windows, selected])
    if (key === this.#drawn) return false
    this.#drawn = key
    this.view.update({ windows, selected })
    return true
  }
}
