// Draws the figures of a report with plotly, in the colours of the page; again when these change, and for paper.
/* global Plotly */
const root = document.documentElement
const dark = matchMedia('(prefers-color-scheme: dark)')
const figures = [...document.querySelectorAll('.plot')].map((plot) => ({ plot, text: plot.textContent }))
const settings = {
  responsive: true,
  displaylogo: false,
  modeBarButtons: [['toImage']],
  toImageButtonOptions: { format: 'svg' },
}

/** @param {number} [width] in pixels; without it as wide as the page */
function draw(width) {
  const colours = getComputedStyle(root)
  for (const { plot, text } of figures) {
    const figure = JSON.parse(text.replace(/var\((--[\w-]+)\)/g, (_, name) => colours.getPropertyValue(name).trim()))
    Plotly.react(plot, figure.data, { ...figure.layout, width, autosize: !width }, settings)
  }
}

draw()
dark.addEventListener('change', () => draw())
matchMedia('print').addEventListener('change', ({ matches }) => {
  root.classList.toggle('paper', matches)
  draw(matches ? 640 : undefined)
})
