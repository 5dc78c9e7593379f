// Plots of a pane: in the theme of the page and at the width of the pane, until the pane is left.

import { onTheme } from '../common/theme.js'

/**
 * A plot: its place, and what is drawn in it at a width (px) with the theme's colours by name.
 * @typedef {{host: HTMLElement, figure: (colour: (name: string) => string, width: number) => any}} Plot
 */

/**
 * What a pane with plots gives to the drawer; `paint` draws the plots again.
 * @param {import('./aids.js').Aids} aids @param {HTMLElement} element the pane @param {Plot[]} plots
 */
export function withPlots(aids, element, plots) {
  const { plotly } = aids.view()
  const paint = () => {
    for (const { host, figure } of plots) {
      const style = getComputedStyle(host)
      const colour = (/** @type {string} */ name) => style.getPropertyValue(`--so-${name}`).trim()
      const { traces, layout } = figure(colour, host.clientWidth)
      plotly.react(host, traces, { ...frame(colour, host.clientWidth), ...layout }, CONFIG)
    }
  }
  const sizes = new ResizeObserver(paint)
  const stop = onTheme(paint)
  return {
    ...{ element, paint },
    placed: () => {
      paint()
      for (const { host } of plots) sizes.observe(host)
    },
    leave: () => {
      sizes.disconnect()
      stop()
      for (const { host } of plots) plotly.purge(host)
    },
  }
}

const CONFIG = { displayModeBar: false, responsive: false, doubleClick: 'autosize' }

const frame = (colour, width) => ({
  ...{ width, height: 250, margin: { l: 46, r: 8, t: 6, b: 40 } },
  ...{ showlegend: false, dragmode: 'zoom', paper_bgcolor: 'transparent', plot_bgcolor: 'transparent' },
  font: { family: colour('font'), size: 12, color: colour('text') },
  hoverlabel: { font: { size: 12, family: colour('font') } },
})

/** An axis. @param {(name: string) => string} colour @param {string} title @param {any} more */
export const axis = (colour, title, more) => ({
  ...{ gridcolor: colour('grid'), zerolinecolor: colour('frame'), linecolor: colour('frame') },
  ...{ tickfont: { size: 11 }, nticks: 6, automargin: true },
  title: { text: title, standoff: 6, font: { size: 12 } },
  ...more,
})

/** The error bars of points. @param {number[]} array 1σ @param {string} color */
export const bars = (array, color) => ({
  ...{ type: 'data', array, visible: array.some((error) => error > 0), color, thickness: 1.5, width: 3 },
})

/** Points of this spectrum's object. @param {(name: string) => string} colour */
export const star = (colour) => ({
  ...{ type: 'scatter', mode: 'markers' },
  marker: { size: 13, symbol: 'star', color: colour('look'), line: { width: 1, color: colour('strong') } },
})

/** Text that plotly does not read as markup. @param {string} text */
export const plain = (text) => String(text).replaceAll('&', '&amp;').replaceAll('<', '&lt;')

/** A text longer than so many characters, with a line break at the space nearest to its middle. */
export function inTwoLines(/** @type {string} */ text, /** @type {number} */ longest) {
  if (text.length <= longest) return text
  const spaces = [...text.matchAll(/ /g)].map(({ index }) => index)
  const [at] = spaces.sort((a, b) => Math.abs(a - text.length / 2) - Math.abs(b - text.length / 2))
  return at ? `${text.slice(0, at)}<br>${text.slice(at + 1)}` : text
}
