// One plot of the spectrum view: plotly draws the data, the grid and the ticks and provides zoom and pan; the marks are
// above and below it. A panel keeps its ranges in the data's own wavelengths.

import { h } from '../common/dom.js'
import { t, word } from '../common/language.js'
import { extent, isWithin, pixelsIn } from './frames.js'
import * as labels from './labels.js'
import * as marks from './marks.js'
import { borders, nearest, niceTicks } from './math.js'
import { centresIn, overviewRange, wholeRange } from './ranges.js'
import { paths } from './scene.js'

const LEFT = 68 // the title of the flux axis, and "15 000" beside it
const RIGHT = 14 // at least: half of the last wavelength's label extends beyond the axis
const DIGIT = 7.5 // the width of a digit of a wavelength's label
const TOP = 7 // half of the uppermost label of the flux axis
const FOOT = { full: 22, step: 38 } // the labels of the wavelengths; under the window their title, too
const LEAST_TICKS = 3 // of an axis
const BADGE = 24
// Heights within the frame that data leave free before anybody has zoomed, so that no toggle moves the data.
const NAMES = { full: 18, step: 32 } // names of lines, in one row or two
const OTHER_AXIS = 16
const BELOW = { full: 26, step: 10 } // the numbers of the windows; the strip of the sky
const LEAST_PIXELS = 4 // of the data, in the narrowest view
let panels = 0 // on the page: elements that are referred to by id need ids of their own
const CONFIG = { displayModeBar: false, doubleClick: false, responsive: false, showTips: false, scrollZoom: false }

export class Panel {
  revision = 0
  width = 0
  height = 0
  alone = false // whether no other panel has the titles of the axes
  hatch = `so-hatch-${(panels += 1)}`
  under = marks.svg('svg', { class: 'so-under', 'aria-hidden': 'true' })
  over = marks.svg('svg', { class: 'so-over', 'aria-hidden': 'true' })
  plot = h('div.so-plot', { 'aria-hidden': 'true' })
  summary = h('p.so-summary', { id: `so-summary-${panels}` })
  brush = h('div.so-brush', { hidden: true })
  cursor = h('div.so-cursor', { hidden: true })
  lit = h('div.so-lit', { hidden: true })

  /**
   * @param {HTMLElement} host  gets the panel's elements; its size decides the plot's
   * @param {string} name "full" or "step" @param {any} plotly @param {(panel: Panel) => void} onZoom
   */
  constructor(host, name, plotly, onZoom) {
    this.host = host
    this.name = name
    this.plotly = plotly
    this.onZoom = onZoom
    this.scene = null // the content drawn, see `compose`
    /** @type {any} */
    this.geometry = null // the plot's position on the screen
    this.gd = null // plotly's element
    this.range = null // [lo, hi] in the data's wavelengths; null: all of it
    this.yRange = null // [low, high] as drawn; null: from most of the data
    this.litRange = null // of the data's wavelengths
    this.drawnFrom = null
    this.edges = ['lo', 'hi'].map((end) =>
      h(`div.so-edge.so-${end}`, {
        ...{ tabIndex: 0, role: 'slider', 'data-end': end, hidden: true, 'aria-orientation': 'horizontal' },
        'aria-label': end === 'lo' ? t('Start of the window') : t('End of the window'),
        title: t('Drag to change the window (or arrow keys: one pixel; with Shift, ten)'),
      }),
    )
    this.layer = h('div.so-layer', this.cursor, this.lit, this.brush, this.edges)
    host.classList.add('so-panel')
    host.setAttribute('role', 'figure')
    host.setAttribute('aria-label', name === 'full' ? t('Whole spectrum') : t('Window of the selected step'))
    host.setAttribute('aria-describedby', this.summary.id)
    host.append(this.under, this.plot, this.over, this.layer, this.summary)
  }

  /** Show a range of the data's wavelengths (null: everything), and fit the flux range to it. */
  setRange(range) {
    this.range = range
    this.yRange = null
    this.revision += 1
  }

  /** Zoom by a factor about a wavelength (the middle if none is given). */
  zoom(by, around) {
    const [lo, hi] = this.range ?? extent(this.scene.wavelength)
    const centre = around ?? (lo + hi) / 2
    this.zoomTo([lo, hi].map((edge) => centre + (edge - centre) * by))
  }

  /** Show a range, kept within the data and no narrower than a few pixels of it. */
  zoomTo(/** @type {number[]} */ [lo, hi]) {
    const { wavelength } = this.scene
    const [first, last] = extent(wavelength)
    const [left, right] = borders(wavelength, nearest(wavelength, (lo + hi) / 2))
    const width = Math.min(last - first, Math.max(hi - lo, LEAST_PIXELS * (right - left)))
    const from = Math.max(first, Math.min(last - width, (lo + hi - width) / 2))
    this.setRange([from, from + width])
  }

  /** Take the size of the host; false if it was the same. */
  resize(width, height) {
    const [before, size] = [[this.width, this.height], [width, height].map(Math.round)]
    ;[this.width, this.height] = size
    for (const layer of [this.under, this.over]) {
      layer.setAttribute('width', size[0])
      layer.setAttribute('height', size[1])
    }
    return size.join() !== before.join()
  }

  /** Draw the data and the axes of the scene; call `paintMarks` after it. */
  paint() {
    if (!(this.width > 120 && this.height > 100)) return
    const geometry = this.#measure()
    if (this.#isDrawn(geometry)) return
    const draw = this.gd ? this.plotly.react : this.plotly.newPlot
    draw(this.plot, this.#traces(geometry), this.#layout(geometry), CONFIG)
    if (this.gd) return
    this.gd = this.plot
    this.gd.on('plotly_relayout', (event) => this.#follow(event, true))
    this.gd.on('plotly_relayouting', (event) => this.#follow(event, false))
  }

  /** Whether plotly has drawn exactly this. Most changes are in the marks, and any change takes plotly 30 ms. */
  #isDrawn({ top, range, yRange }) {
    const { id, wavelength, drawn, raw, unmeasured, error, scale, factor, colours, overlays } = this.scene
    const before = this.drawnFrom
    this.drawnFrom = [
      ...[id, wavelength, drawn, raw, unmeasured, error, scale, factor, colours],
      ...[this.revision, this.width, this.height, top, ...range, ...yRange],
      ...[overlays.length, ...overlays.map(({ flux }) => flux)],
    ]
    return Boolean(this.gd && before) && this.drawnFrom.every((value, i) => Object.is(value, before?.[i]))
  }

  /** Draw the marks again at the present ranges, without the data. */
  paintMarks() {
    const { scene, geometry } = this
    if (!geometry) return
    const { bands, drawn, gaps, masked, otherAxis, scale, second, wavelength } = scene
    const gapMarks = marks.gapMarks(geometry, gaps, masked)
    this.under.replaceChildren(hatching(geometry), marks.skyBands(geometry, bands), gapMarks)
    this.showSky(null)
    this.over.replaceChildren(
      marks.frame(geometry),
      // A panel that is too small keeps the geometry of an earlier scene.
      geometry.axisHeight && otherAxis ? marks.otherAxis(geometry, otherAxis) : '',
      labels.lineMarks(geometry, scene.lines),
      marks.offScale(geometry, { ...drawn, wavelength, scale }, pixelsIn(wavelength, geometry.range)),
      marks.titles(geometry, scene.titles),
      second.length ? marks.secondRow(geometry, second) : '',
    )
    this.paintWidth()
    this.paintWindows()
  }

  /** Draw the measured equivalent width again; its line follows the pointer. */
  paintWidth() {
    const { scene, geometry } = this
    this.over.querySelector('.so-width')?.remove()
    if (geometry && scene.width) this.over.append(marks.widthMark(geometry, scene.width, scene))
  }

  /** Draw the windows again; they move while a person drags one. */
  paintWindows() {
    const { scene, geometry } = this
    if (!geometry) return
    this.under.querySelector('.so-windows')?.remove()
    this.under.append(marks.windowBands(geometry, scene.windows))
    this.over.querySelector('.so-outline')?.remove()
    this.over.prepend(marks.selectedOutline(geometry, scene.windows))
    for (const badge of this.layer.querySelectorAll('.so-badge')) badge.remove()
    if (this.name === 'full') this.layer.prepend(...badges(geometry, scene))
    const selected = scene.windows.find((window) => window.selected)
    this.edges.forEach((edge, end) => this.#placeEdge(edge, selected, end))
    this.highlight(this.litRange)
  }

  /** Light up a range of the data's wavelengths (Å), e.g. of a line that a text names; null: none. */
  highlight(/** @type {number[] | null} */ range) {
    const { geometry, lit } = this
    this.litRange = range
    lit.hidden = !range || !geometry || range[1] < geometry.range[0] || range[0] > geometry.range[1]
    if (!lit.hidden) this.#cover(lit, range)
  }

  /** Draw the sky bands at a wavelength in full height, all others as a strip. @param {number | null} wavelength */
  showSky(wavelength) {
    if (!this.geometry || !this.scene) return
    this.scene.bands.forEach(({ span }, at) => {
      const isUnder = wavelength !== null && isWithin(wavelength, span)
      for (const part of this.under.querySelectorAll(`[data-band="${at}"]`)) part.classList.toggle('so-tall', isUnder)
    })
  }

  showCursor(wavelength) {
    const { cursor, geometry } = this
    cursor.hidden = wavelength === null || !geometry || !isWithin(wavelength, geometry.range)
    if (!cursor.hidden) marks.stand(cursor, geometry, Math.round(geometry.x(wavelength)))
  }

  /** Show a dragged range, between two heights (px from the top) if they are given; null hides it. */
  showBrush(range, heights) {
    const { geometry, brush } = this
    brush.hidden = !range || !geometry
    if (!brush.hidden) this.#cover(brush, range, heights)
  }

  /** Lay an element over wavelengths of the data. @param {any} range @param {number[] | null} [heights] px */
  #cover(element, range, heights) {
    const { bottom, left, right, top, x } = this.geometry
    const [from, to] = range.map((wavelength) => Math.max(left, Math.min(right, x(wavelength))))
    const [upper, lower] = heights ?? [top, bottom]
    const box = { left: from, width: Math.max(2, to - from), top: upper, height: lower - upper }
    for (const [name, pixels] of Object.entries(box)) element.style[name] = `${pixels}px`
  }

  /** The flux, as drawn, at two heights (px from the top), the lower flux first. */
  fluxesAt(/** @type {number[]} */ heights) {
    const { bottom, height, yRange } = this.geometry
    return heights.map((y) => yRange[0] + ((bottom - y) / height) * (yRange[1] - yRange[0])).toSorted((a, b) => a - b)
  }

  #placeEdge(edge, window, end) {
    const { geometry } = this
    edge.hidden = !window || !this.scene.editable || !isWithin(window.span[end], geometry.range)
    if (edge.hidden) return
    marks.stand(edge, geometry, geometry.x(window.span[end]))
    const value = [window.lo, window.hi][end]
    edge.setAttribute('aria-valuenow', value)
    edge.setAttribute('aria-valuetext', t('{value} Å, {frame}', { value, frame: word(window.frame) }))
  }

  #measure() {
    const { scene } = this
    const isFull = this.name === 'full'
    const titled = !isFull || this.alone
    const bottom = this.height - FOOT[titled ? 'step' : 'full']
    const range = this.range ?? extent(scene.wavelength)
    const digits = (range[1] * scene.factor).toFixed(0).length
    const width = this.width - LEFT - Math.max(RIGHT, Math.ceil((digits * DIGIT) / 2) + 3)
    const perPixel = (range[1] - range[0]) / width
    this.geometry = {
      ...{ left: LEFT, right: LEFT + width, panelWidth: this.width, width },
      ...{ top: TOP, bottom, height: bottom - TOP, titled, range, perPixel, hatch: this.hatch },
      axisHeight: !isFull && scene.otherAxis ? OTHER_AXIS : 0,
      rows: isFull ? 1 : 2, // of names
      yRange: this.yRange ?? this.#withMargins(this.#bulk(range), bottom - TOP),
      x: (wavelength) => LEFT + (wavelength - range[0]) / perPixel,
      wavelength: (x) => range[0] + (x - LEFT) * perPixel,
    }
    return this.geometry
  }

  #bulk(range) {
    const { drawn, spectrum, wavelength, scale } = this.scene
    const whole = this.range === null && drawn.bulk
    const [from, to] = centresIn(wavelength, range)
    const [low, high] =
      whole || (this.name === 'step' ? wholeRange(drawn.flux, from, to) : overviewRange(drawn, spectrum.mask, from, to))
    return [low * scale, high * scale]
  }

  /** A range of fluxes with the heights that names, axis and numbers take above and below the data. */
  #withMargins(/** @type {number[]} */ [low, high], height) {
    const above = NAMES[this.name] + (this.name === 'step' ? OTHER_AXIS : 0)
    const perPixel = (high - low) / Math.max(height / 3, height - above - BELOW[this.name])
    return [low - BELOW[this.name] * perPixel, high + above * perPixel]
  }

  #traces({ range, perPixel }) {
    const { colours, drawn, error, factor, overlays, raw, scale, unmeasured, wavelength } = this.scene
    // One screen width more on either side, so that there are data to show during a pan.
    const wide = range[1] - range[0]
    const outline = (at, flux, sigma, more) => {
      const [from, to] = pixelsIn(at, [range[0] - wide, range[1] + wide])
      return paths(at, flux, sigma, { from, to, columnWidth: perPixel, factor, scale, ...more })
    }
    const shared = { type: 'scatter', mode: 'lines', hoverinfo: 'skip' }
    const nothing = { x: [], y: [] }
    const stroke = (path, color, width) => ({ ...shared, ...path, line: { color, width, simplify: false } })
    const curve = ({ wavelength: at, flux, beneath, colour }) => {
      const { line: path } = outline(at, flux, flux, { stepped: false })
      // The data have to be seen where a curve fits them.
      return { ...stroke(path, colours[colour], beneath ? 0.8 : 1.2), opacity: 0.8 }
    }
    const symbols = ({ wavelength: at, flux, points: { labels: text, error: relative }, colour }) => {
      const [color, y] = [colours[colour], Array.from(flux, (value) => value * scale)]
      const error_y = { type: 'data', array: y.map((value, i) => value * relative[i]), color, thickness: 1.5 }
      const marker = { size: 11, color, symbol: 'diamond', line: { width: 1.5, color: colours.paper } }
      const textfont = { color, shadow: `0 0 2px ${colours.paper}, `.repeat(4) + `0 0 4px ${colours.paper}` }
      const names = { mode: 'markers+text', text, textposition: 'top center', textfont }
      return { ...shared, ...names, x: Array.from(at, (value) => value * factor), y, error_y, marker }
    }
    const { line, band } = outline(wavelength, drawn.flux, drawn.sigma, { withBand: error })
    const under = raw ? outline(wavelength, raw, drawn.sigma).line : nothing
    return [
      { ...shared, ...(band ?? nothing), fill: 'toself', fillcolor: colours.error, line: { width: 0 } },
      stroke(under, colours.raw, 1),
      ...overlays.filter(({ beneath }) => beneath).map(curve),
      stroke(line, colours.data, this.name === 'step' ? 1.3 : 1),
      ...overlays.filter(({ beneath }) => !beneath).map((overlay) => (overlay.points ? symbols : curve)(overlay)),
      ...(unmeasured ? [stroke(outline(wavelength, unmeasured, unmeasured).line, colours.faint, 1)] : []),
    ]
  }

  #layout({ range, yRange, top, bottom, right }) {
    const { colours, factor, id } = this.scene
    const axis = {
      // Without these settings plotly reads the data to guess the type, and measures each label on the page.
      ...{ type: 'linear', tickangle: 0, ticklabeloverflow: 'allow', exponentformat: 'none' },
      // The frame, with the lane of the numbers, is one of the marks.
      ...{ gridcolor: colours.grid, zeroline: false, showline: false },
      ...{ ticks: 'outside', ticklen: 4, tickcolor: colours.frame, tickfont: { size: 12, color: colours.text } },
    }
    const shown = range.map((wavelength) => wavelength * factor)
    return {
      ...{ width: this.width, height: this.height, font: { family: colours.font }, separators: '.\u202f' },
      margin: { l: LEFT, r: this.width - right, t: top, b: this.height - bottom },
      ...{ paper_bgcolor: 'transparent', plot_bgcolor: 'transparent', showlegend: false, hovermode: false },
      dragmode: false, // see gestures.js; plotly's own drags on the axes remain
      // plotly keeps the person's zoom until we set a range.
      uirevision: `${id}/${this.revision}`,
      xaxis: { ...axis, ...ticks(shown, this.width / 100), separatethousands: false },
      yaxis: { ...axis, ...ticks(yRange, (bottom - top) / 60), separatethousands: true },
    }
  }

  /** Store the ranges that a drag on the plot or its axes has set. */
  #follow(event, final) {
    const [x, y] = ['xaxis', 'yaxis'].map((axis) => [event[`${axis}.range[0]`], event[`${axis}.range[1]`]])
    if (x[0] === undefined && y[0] === undefined) return
    if (x[0] !== undefined) this.range = x.map((shown) => shown / this.scene.factor)
    if (y[0] !== undefined) this.yRange = y
    this.#measure()
    if (final) this.onZoom(this)
    else this.paintMarks()
  }
}

/** The range of an axis with ticks at round values, at least `LEAST_TICKS` of them. @param {number[]} range */
function ticks(range, /** @type {number} */ count) {
  for (let more = Math.max(LEAST_TICKS, Math.round(count)); ; more += 1) {
    const { step, values } = niceTicks(range[0], range[1], more)
    if (values.length >= LEAST_TICKS || more > 20) return { range, tick0: 0, dtick: step }
  }
}

/** The numbers of the windows at the foot of the data: each as near to its window's middle as possible. */
function badges(geometry, scene) {
  const seen = scene.windows
    .map((window) => ({ window, middle: geometry.x((window.span[0] + window.span[1]) / 2) }))
    .filter(({ middle }) => isWithin(middle, [geometry.left, geometry.right]))
    .toSorted((a, b) => a.middle - b.middle)
  const middles = seen.map(({ middle }) => middle)
  const ends = [geometry.left + BADGE / 2 + 1, geometry.right - BADGE / 2 - 1]
  const places = labels.spreadWithin(middles, BADGE + 2, ends)
  return seen.map(({ window }, k) => {
    // The list of the steps is what keyboard and screen reader use.
    const props = { 'aria-hidden': 'true', 'data-step': window.id, title: window.title }
    const badge = h(`div.so-badge${window.selected ? '.so-selected' : ''}`, props, String(window.number))
    if (window.side) badge.classList.add(`so-${window.side}`)
    badge.style.transform = `translate(${Math.round(places[k] - BADGE / 2)}px, ${geometry.bottom - BADGE - 1}px)`
    return badge
  })
}

function hatching({ hatch: id }) {
  const size = { width: 6, height: 6, patternUnits: 'userSpaceOnUse', patternTransform: 'rotate(45)' }
  const stroke = marks.svg('rect', { class: 'so-hatch', width: 2, height: 6 })
  return marks.svg('defs', {}, marks.svg('pattern', { id, ...size }, stroke))
}
