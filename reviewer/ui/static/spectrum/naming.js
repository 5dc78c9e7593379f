// "This peak is Hβ": point at a feature, name its line, and the redshift follows.

import { h } from '../common/dom.js'
import { angstrom, redshift } from '../common/format.js'
import { pixelsIn, redshiftOf, shownFactor } from './frames.js'
import { peakNear } from './math.js'

const REACH = 8 // screen pixels around the pointer within which the feature is looked for
const WIDTH = 230
const HIGHEST = 8 // redshift

export class Naming {
  /**
   * @param {HTMLElement} root  gets the menu
   * @param {{onRedshift: (z: number) => void, onMark: (wavelength: number|null) => void}} on
   */
  constructor(root, on) {
    this.on = on
    this.title = h('div.so-naming-title')
    this.list = h('select.so-naming-list', {
      size: 9,
      'aria-label': 'Which line is this',
      onchange: () => this.on.onRedshift(Number(this.list.value)),
      onclick: () => this.close(),
      onblur: () => this.close(),
      onkeydown: (event) => this.#key(event),
    })
    this.menu = h('div.so-naming', { hidden: true }, this.title, this.list)
    root.append(this.menu)
  }

  /**
   * Ask which line stands at `wavelength` (of the data) in a panel. False where the data cannot tell a redshift, being
   * at rest already. Arrow keys try the lines, Enter or a click keeps one, Escape brings the old redshift back.
   */
  ask(panel, wavelength, item, state) {
    const { spectrum } = item
    if (spectrum.frame === 'rest') return false
    const reach = REACH * panel.geometry.perPixel
    const pixels = pixelsIn(spectrum.wavelength, [wavelength - reach, wavelength + reach])
    const peak = peakNear(spectrum.wavelength, panel.scene.drawn.flux, ...pixels)
    this.before = state.z
    this.title.textContent = `${angstrom(peak * shownFactor(spectrum, state.z, state.frame))} ${state.frame} is`
    this.list.replaceChildren(
      ...candidates(item, peak, state).map(({ name, z }) => h('option', { value: z }, `${name} · z ${redshift(z)}`)),
    )
    this.list.selectedIndex = -1
    this.#place(panel, peak)
    this.on.onMark(peak)
    this.list.focus()
    return true
  }

  close() {
    this.menu.hidden = true
    this.on.onMark(null)
  }

  #place(panel, peak) {
    this.menu.hidden = false
    const x = panel.geometry.x(peak) + 12
    const left = x + WIDTH > panel.width ? x - WIDTH - 24 : x
    this.menu.style.transform = `translate(${Math.max(4, left)}px, ${panel.host.offsetTop + panel.geometry.top + 8}px)`
  }

  #key(event) {
    event.stopPropagation()
    if (event.key === 'Escape') this.on.onRedshift(this.before)
    if (event.key === 'Escape' || event.key === 'Enter') this.list.blur()
  }
}

/** The lines a feature may be, the one that changes the redshift least first. */
function candidates({ lines, spectrum }, peak, { z, lineList }) {
  return lines
    .filter((line) => line.task || line.major || lineList === 'all')
    .map((line) => ({ name: line.name, z: redshiftOf(peak, line.wavelength, line.medium, spectrum) }))
    .filter((candidate) => candidate.z > -0.02 && candidate.z < HIGHEST)
    .sort((a, b) => Math.abs(a.z - z) - Math.abs(b.z - z))
}
