// The right side of the Live tab: the spectrum in front, the lines that the question is about, the windows looked at.

import { getBytes } from '../common/http.js'
import { Items, unpackSpectrum } from '../review/items.js'
import { keepForNextVisit, lastVisit } from '../spectrum/controls.js'
import { SpectrumView } from '../spectrum/view.js'

const KEPT = 24 // spectra

export class LiveSpectrum {
  /**
   * @param {HTMLElement} root
   * @param {(id: string) => void} onSelect  a window was chosen on the spectrum
   */
  constructor(root, onSelect) {
    this.root = root
    this.view = new SpectrumView(root, { onSelect, onState: keepForNextVisit, state: lastVisit() })
    this.items = new Items(() => false) // its atlases and templates
    this.spectra = new Map()
    this.shown = null // {row, spectrum, task, atlas}
  }

  /** What `show` wants: a row's spectrum, and the lines of a question about it. */
  async fetch(row, task) {
    const [spectrum, atlas] = await Promise.all([this.#spectrumOf(row), this.items.atlas(row.survey, task)])
    return { row, spectrum, task, atlas }
  }

  #spectrumOf({ spectrum }) {
    if (!this.spectra.has(spectrum)) {
      const bytes = getBytes(`/api/live/spectrum/${spectrum}`).then(unpackSpectrum)
      bytes.catch(() => this.spectra.delete(spectrum))
      this.spectra.set(spectrum, bytes)
      if (this.spectra.size > KEPT) this.spectra.delete(this.spectra.keys().next().value)
    }
    return this.spectra.get(spectrum)
  }

  /** Put a spectrum in front, without windows. */
  show(shown) {
    const { row, spectrum, atlas } = (this.shown = shown)
    this.root.classList.remove('absent')
    this.view.show({
      id: row.id,
      spectrum,
      redshift: spectrum.redshift,
      windows: [],
      lines: atlas.lines,
      bands: atlas.bands,
      editable: false,
    })
    this.drawn = '[]'
  }

  hide() {
    this.shown = null
    this.root.classList.add('absent')
  }

  /** Draw the lines that another question is about. */
  async ask(task) {
    const at = this.shown
    if (task === at.task) return
    const atlas = await this.items.atlas(at.row.survey, task)
    Object.assign(at, { task, atlas, template: undefined })
    if (at === this.shown) this.show(at)
  }

  /** The windows looked at, and which is selected. False where all is as it was, and nothing is drawn. */
  paint(windows, selected) {
    const key = JSON.stringify([windows, selected])
    if (key === this.drawn) return false
    this.drawn = key
    this.view.update({ windows, selected })
    return true
  }

  /** Show the template of the question's class, or hide it again. */
  async template() {
    const at = this.shown
    if (!at) return
    const known = at.template
    at.template ??= await this.items.template(at.task)
    this.view.command('template', known ? undefined : true)
    this.view.update({ template: at.template })
  }
}
