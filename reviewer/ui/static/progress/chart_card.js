// A card with a chart of the Progress tab, and the theme's colours for plotly.

import { fill, h } from '../common/dom.js'
import { plotlyReady } from '../common/plotly_ready.js'
import { STATES } from './charts.js'
import { defined } from './tables.js'

/** A card with a heading, a legend, and a chart or the reason why there is none. */
export class Chart {
  constructor(title, meaning, figureOf) {
    this.figureOf = figureOf
    this.legend = h('div.legend')
    this.plot = h('div.plot')
    this.none = h('p.none', { hidden: true })
    this.scroll = h('div.scroll', {}, this.plot)
    this.card = h(
      'section.chart',
      { 'aria-label': title },
      h('header', {}, h('h3', {}, defined(title, meaning)), this.legend),
      this.scroll,
      this.none,
    )
    new ResizeObserver(() => this.drawn && this.draw(this.drawn)).observe(this.scroll)
  }

  async draw(figures) {
    this.drawn = figures
    const figure = this.figureOf(figures, colours(this.card))
    this.#showMessage(figure.none)
    if (figure.none) return
    fill(
      this.legend,
      figure.legend.map((entry) =>
        h(
          'span',
          {},
          h(entry.line ? 'i.line' : 'i', { style: entry.line ? '' : `background:${entry.colour}` }),
          entry.name,
        ),
      ),
    )
    const { clientWidth: width, clientHeight: height } = this.scroll
    if (!width) return
    const layout = { ...figure.layout, width: width - 2, height: Math.max(height - 4, figure.least ?? 0) }
    try {
      const plotly = await plotlyReady()
      await plotly.react(this.plot, figure.traces, layout, { displayModeBar: false })
    } catch (error) {
      this.#showMessage(error.message)
    }
  }

  /** Show a message in place of the chart; empty: the chart. */
  #showMessage(words) {
    this.none.hidden = !words
    this.scroll.hidden = Boolean(words)
    this.none.textContent = words ?? ''
    if (words) fill(this.legend)
  }
}

/** The theme's colours as rgb for plotly: each CSS colour is painted once and read back. */
export function colours(element) {
  const style = getComputedStyle(element)
  const brush = /** @type {CanvasRenderingContext2D} */ (
    document.createElement('canvas').getContext('2d', { willReadFrequently: true })
  )
  const probe = h('span', { hidden: true })
  element.append(probe)
  const read = (variable) => {
    probe.style.color = `var(${variable})`
    brush.clearRect(0, 0, 1, 1)
    brush.fillStyle = getComputedStyle(probe).color
    brush.fillRect(0, 0, 1, 1)
    const [r, g, b] = brush.getImageData(0, 0, 1, 1).data
    return `rgb(${r}, ${g}, ${b})`
  }
  const theme = {
    ink: read('--so-ink'),
    muted: read('--so-muted'),
    line: read('--so-line'),
    card: read('--so-card'),
    font: style.fontFamily,
  }
  for (const state of STATES) theme[state] = read(`--so-state-${state.replace(' ', '-')}`)
  probe.remove()
  return theme
}
