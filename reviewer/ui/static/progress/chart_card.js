// A card with a chart of the Progress tab, and the theme's colours for plotly.

import { fill, h } from '../common/dom.js'
import { plotlyReady } from '../common/plotly_ready.js'
import { STATES } from './charts.js'
import { Card } from './tables.js'

/** A card with a legend and a chart, or one line with the reason why there is none. */
export class Chart extends Card {
  /** @param {string} title @param {string} meaning @param {(figures: any, colours: any) => any} figureOf */
  constructor(title, meaning, figureOf) {
    super(title, meaning)
    this.figureOf = figureOf
    this.drawn = null
    this.width = 0
    this.legend = h('div.legend')
    this.header.append(this.legend)
    this.plot = h('div.plot')
    new ResizeObserver(() => {
      if (this.drawn && this.body.clientWidth !== this.width) this.draw(this.drawn)
    }).observe(this.body)
  }

  async draw(figures) {
    this.drawn = figures
    const { none, legend = [], traces, layout } = this.figureOf(figures, colours(this.root))
    const sign = ({ line, colour }) => h(line ? 'i.line' : 'i', { style: line ? '' : `background:${colour}` })
    const entries = legend.map((entry) => h('span', sign(entry), entry.name))
    fill(this.legend, entries)
    if (none || this.plot.parentElement !== this.body) this.show(none ?? this.plot)
    this.width = this.body.clientWidth
    if (none || !this.width) return
    try {
      const plotly = await plotlyReady()
      await plotly.react(this.plot, traces, { ...layout, width: this.width }, { displayModeBar: false })
    } catch (error) {
      this.show(error.message)
    }
  }
}

/** The theme's colours as rgb for plotly: each CSS colour is painted once and read back. */
function colours(element) {
  const canvas = document.createElement('canvas')
  const brush = /** @type {CanvasRenderingContext2D} */ (canvas.getContext('2d', { willReadFrequently: true }))
  const probe = h('span', { hidden: true })
  element.append(probe)
  const read = (variable) => {
    probe.style.color = `var(--so-${variable})`
    brush.clearRect(0, 0, 1, 1)
    brush.fillStyle = getComputedStyle(probe).color
    brush.fillRect(0, 0, 1, 1)
    const [r, g, b] = brush.getImageData(0, 0, 1, 1).data
    return `rgb(${r}, ${g}, ${b})`
  }
  const theme = Object.fromEntries(['ink', 'muted', 'line', 'card'].map((name) => [name, read(name)]))
  for (const state of STATES) theme[state] = read(`state-${state.replace(' ', '-')}`)
  probe.remove()
  return { ...theme, font: getComputedStyle(element).fontFamily }
}
