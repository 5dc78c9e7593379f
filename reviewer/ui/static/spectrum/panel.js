// One plot of the spectrum view: plotly draws the data, the grid and the ticks and provides zoom and pan; the marks are
// above and below it. A panel keeps its ranges in the data's own wavelengths.

import { h } from '../common/dom.js'
import { t, word } from '../common/language.js'
import { extent, pixelsIn } from './frames.js'
import * as labels from './labels.js'
import * as marks from './marks.js'
import { borders, nearest, niceTicks } from './math.js'
import { centresIn, overviewRange, wholeRange } from './ranges.js'
import { paths } from './scene.js'

const LEFT = 58
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
  /** @type {any} the content drawn, see `compose` */
  scene
  /** @type {any} the plot's position on the screen */
  geometry
  /** @type {any} plotly's element */
  gd
  width = 0
  height = 0

  /**
   * @param {HTMLElement} host  gets the panel's elements; its size decides the plot's
   * @param {{name: string, plotly: any, onZoom: Function}} options
   */
  constructor(host, { name, plotly, onZoom }) {
    this.host = host
    this.name = name
    this.plotly = plotly
    this.onZoom = onZoom
    /** @type {any} [lo, hi] in the data's wavelengths; null: all of it */
    this.range = null
    /** @type {any} [low, high] as drawn; null: from most of the data */
    this.yRange = null
    this.revision = 0
    this.alone = false // whether no other panel has the titles of the axes
    this.hatch = `so-hatch-${(panels += 1)}`
    this.under = marks.svg('svg', { class: 'so-under', 'aria-hidden': 'true' })
    this.plot = h('div.so-plot', { 'aria-hidden': 'true' })
    this.over = marks.svg('svg', { class: 'so-over', 'aria-hidden': 'true' })
    this.summary = h('p.so-summary', { id: `so-summary-${panels}` })
    this.layer = h('div.so-layer')
    this.brush = h('div.so-brush', { hidden: true })
    this.cursor = h('div.so-cursor', { hidden: true })
    this.edges = ['lo', 'hi'].map((end) =>
      h(`div.so-edge.so-${end}`, {
        tabIndex: 0,
        role: 'slider',
        'data-end': end,
        hidden: true,
        'aria-orientation': 'horizontal',
        'aria-label': end === 'lo' ? t('Start of the window') : t('End of the window'),
        title: t('Drag to change the window (or arrow keys: one pixel; with Shift, ten)'),
      }),
    )
    this.lit = h('div.so-lit', { hidden: true })
    /** @type {number[] | null} a range of the data's wavelengths that is lit up */
    this.litRange = null
    this.layer.append(this.cursor, this.lit, this.brush, ...this.edges)
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

  /** Zoom by a factor about a wavelength (the middle if none is given), and move by a fraction of the width. */
  zoom(by, around, pan = 0) {
    const [lo, hi] = this.range ?? extent(this.scene.wavelength)
    const centre = around ?? (lo + hi) / 2
    this.zoomTo([lo, hi].map((edge) => centre + (edge - centre) * by + pan * (hi - lo)))
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

  resize(width, height) {
    this.width = Math.round(width)
    this.height = Math.round(height)
    for (const layer of [this.under, this.over]) {
      layer.setAttribute('width', this.width)
      layer.setAttribute('height', this.height)
    }
  }

  /** Draw the data and the axes; call `paintMarks` after it. */
  paint(scene) {
    this.scene = scene
    if (!(this.width > 120 && this.height > 100)) return
    const geometry = this.#measure()
    if (this.#isDrawn(geometry)) return
    const draw = this.gd ? this.plotly.react : this.plotly.newPlot
    draw(this.plot, this.#traces(geometry), this.#layout(geometry), CONFIG)
    if (!this.gd) this.#listen()
  }

  /**
   * Whether plotly has drawn exactly this. Most changes are in the marks, and drawing takes plotly 30 ms for any
   * change.
   */
  #isDrawn({ top, range, yRange }) {
    const { scene } = this
    const before = this.drawnFrom
    this.drawnFrom = [
      scene.id,
      scene.wavelength,
      scene.drawn,
      scene.raw,
      scene.unmeasured,
      scene.error,
      scene.scale,
      scene.factor,
      scene.colours,
      this.revision,
      this.width,
      this.height,
      top,
      ...range,
      ...yRange,
      scene.overlays.length,
      ...scene.overlays.map(({ flux }) => flux),
    ]
    return Boolean(this.gd && before) && this.drawnFrom.every((value, i) => Object.is(value, before?.[i]))
  }

  /** Draw the marks again at the present ranges, without the data. */
  paintMarks() {
    const { scene, geometry } = this
    if (!geometry) return
    this.under.replaceChildren(
      hatching(geometry),
      marks.skyBands(geometry, scene.bands),
      marks.gapMarks(geometry, scene.gaps, scene.masked),
    )
    this.showSky(null)
    const pixels = pixelsIn(scene.wavelength, geometry.range)
    this.over.replaceChildren(
      marks.frame(geometry),
      geometry.axisHeight ? marks.otherAxis(geometry, scene.otherAxis) : '',
      labels.lineMarks(geometry, scene.lines),
      marks.offScale(geometry, { ...scene.drawn, wavelength: scene.wavelength, scale: scene.scale }, pixels),
      marks.titles(geometry, scene.titles),
      scene.second.length ? marks.secondRow(geometry, scene.second) : '',
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
    if (!lit.hidden) this.#cover(lit, range, [geometry.top, geometry.bottom])
  }

  /** Draw the sky bands at a wavelength in full height, all others as a strip. @param {number | null} wavelength */
  showSky(wavelength) {
    if (!this.geometry || !this.scene) return
    this.scene.bands.forEach(({ span }, at) => {
      const isUnder = wavelength !== null && wavelength >= span[0] && wavelength <= span[1]
      for (const part of this.under.querySelectorAll(`[data-band="${at}"]`)) part.classList.toggle('so-tall', isUnder)
    })
  }

  showCursor(wavelength) {
    const inside =
      wavelength !== null &&
      this.geometry &&
      wavelength >= this.geometry.range[0] &&
      wavelength <= this.geometry.range[1]
    this.cursor.hidden = !inside
    if (!inside) return
    const { x, top, height } = this.geometry
    Object.assign(this.cursor.style, {
      transform: `translateX(${Math.round(x(wavelength))}px)`,
      top: `${top}px`,
      height: `${height}px`,
    })
  }

  /**
   * Show a dragged range that belongs to no window, between two heights (px from the top) if they are given; null
   * hides it.
   */
  showBrush(range, heights = /** @type {number[] | null} */ (null)) {
    const { geometry, brush } = this
    brush.hidden = !range || !geometry
    if (!brush.hidden) this.#cover(brush, range, heights ?? [geometry.top, geometry.bottom])
  }

  /**
   * Lay an element over wavelengths of the data, between two heights (px from the top).
   * @param {HTMLElement} element @param {any} range @param {number[]} heights
   */
  #cover(element, range, [top, bottom]) {
    const { geometry } = this
    const [from, to] = range.map((wavelength) =>
      Math.max(geometry.left, Math.min(geometry.right, geometry.x(wavelength))),
    )
    Object.assign(element.style, {
      left: `${from}px`,
      width: `${Math.max(2, to - from)}px`,
      top: `${top}px`,
      height: `${bottom - top}px`,
    })
  }

  /** The flux, as drawn, at two heights (px from the top), the lower flux first. */
  fluxesAt(/** @type {number[]} */ heights) {
    const { bottom, height, yRange } = this.geometry
    return heights.map((y) => yRange[0] + ((bottom - y) / height) * (yRange[1] - yRange[0])).toSorted((a, b) => a - b)
  }

  #placeEdge(edge, window, end) {
    const { geometry } = this
    const at = window?.span[end]
    edge.hidden = !window || !this.scene.editable || at < geometry.range[0] || at > geometry.range[1]
    if (edge.hidden) return
    Object.assign(edge.style, {
      transform: `translateX(${geometry.x(at)}px)`,
      top: `${geometry.top}px`,
      height: `${geometry.height}px`,
    })
    const value = [window.lo, window.hi][end]
    edge.setAttribute('aria-valuenow', value)
    edge.setAttribute('aria-valuetext', t('{value} Å, {frame}', { value, frame: word(window.frame) }))
  }

  #measure() {
    const { scene } = this
    const isFull = this.name === 'full'
    const top = TOP
    const titled = !isFull || this.alone
    const bottom = this.height - FOOT[titled ? 'step' : 'full']
    const range = this.range ?? extent(scene.wavelength)
    const digits = (range[1] * scene.factor).toFixed(0).length
    const width = this.width - LEFT - Math.max(RIGHT, Math.ceil((digits * DIGIT) / 2) + 3)
    const perPixel = (range[1] - range[0]) / width
    this.geometry = {
      left: LEFT,
      right: LEFT + width,
      panelWidth: this.width,
      width,
      top,
      bottom,
      height: bottom - top,
      axisHeight: !isFull && scene.otherAxis ? OTHER_AXIS : 0,
      titled,
      rows: isFull ? 1 : 2, // of names
      range,
      perPixel,
      hatch: this.hatch,
      yRange: this.yRange ?? this.#withMargins(this.#bulk(range), bottom - top),
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

  /**
   * A range of fluxes with the heights that names, axis and numbers take above and below the data.
   * @param {number[]} range @param {number} height of the frame, px
   */
  #withMargins([low, high], height) {
    const above = NAMES[this.name] + (this.name === 'step' ? OTHER_AXIS : 0)
    const perPixel = (high - low) / Math.max(height / 3, height - above - BELOW[this.name])
    return [low - BELOW[this.name] * perPixel, high + above * perPixel]
  }

  #traces({ range, perPixel }) {
    const { scene } = this
    // One screen width more on either side, so that there are data to show during a pan.
    const wide = range[1] - range[0]
    const [from, to] = pixelsIn(scene.wavelength, [range[0] - wide, range[1] + wide])
    const options = { from, to, columnWidth: perPixel, factor: scene.factor, scale: scene.scale }
    const { line, band } = paths(scene.wavelength, scene.drawn.flux, scene.drawn.sigma, {
      ...options,
      withBand: scene.error,
    })
    const faint =
      scene.unmeasured &&
      paths(scene.wavelength, scene.unmeasured, scene.unmeasured, { ...options, withBand: false }).line
    const raw = scene.raw && paths(scene.wavelength, scene.raw, scene.drawn.sigma, { ...options, withBand: false }).line
    const { colours } = scene
    const shared = { type: 'scatter', mode: 'lines', hoverinfo: 'skip' }
    const stroke = (path, colour, width) => ({
      ...shared,
      ...(path ?? { x: [], y: [] }),
      line: { color: colour, width, simplify: false },
    })
    const curve = ({ wavelength, flux, kind, colour }) => {
      const [first, last] = pixelsIn(wavelength, [range[0] - wide, range[1] + wide])
      const shape = { ...options, from: first, to: last, withBand: false, stepped: false }
      const { line: path } = paths(wavelength, flux, flux, shape)
      // The data have to be seen where a curve fits them.
      return { ...stroke(path, colours[colour], kind === 'exposure' ? 0.8 : 1.2), opacity: 0.8 }
    }
    return [
      { ...shared, ...(band ?? { x: [], y: [] }), fill: 'toself', fillcolor: colours.error, line: { width: 0 } },
      stroke(raw, colours.raw, 1),
      ...scene.overlays.filter(({ kind }) => kind === 'exposure').map(curve),
      stroke(line, colours.data, this.name === 'step' ? 1.3 : 1),
      ...scene.overlays.filter(({ kind }) => kind !== 'exposure').map(curve),
      ...(faint ? [stroke(faint, colours.faint, 1)] : []),
    ]
  }

  #layout({ range, yRange, top, bottom, right }) {
    const { scene } = this
    const { colours } = scene
    const axis = {
      // Without these settings plotly reads the data to guess the type, and measures each label on the page.
      type: 'linear',
      tickangle: 0,
      ticklabeloverflow: 'allow',
      gridcolor: colours.grid,
      zeroline: false,
      showline: false, // the frame, with the lane of the numbers, is one of the marks
      ticks: 'outside',
      ticklen: 4,
      tickcolor: colours.frame,
      tickfont: { size: 12, color: colours.text },
      exponentformat: 'none',
    }
    return {
      width: this.width,
      height: this.height,
      margin: { l: LEFT, r: this.width - right, t: top, b: this.height - bottom },
      paper_bgcolor: 'transparent',
      plot_bgcolor: 'transparent',
      showlegend: false,
      hovermode: false,
      dragmode: false, // see gestures.js; plotly's own drags on the axes remain
      font: { family: colours.font },
      separators: '.\u202f',
      // plotly keeps the person's zoom until we set a range.
      uirevision: `${scene.id}/${this.revision}`,
      xaxis: {
        ...axis,
        ...ticks(
          range.map((wavelength) => wavelength * scene.factor),
          this.width / 100,
        ),
        separatethousands: false,
      },
      yaxis: { ...axis, ...ticks(yRange, (bottom - top) / 60), separatethousands: true },
    }
  }

  #listen() {
    this.gd = this.plot
    this.gd.on('plotly_relayout', (event) => this.#follow(event, true))
    this.gd.on('plotly_relayouting', (event) => this.#follow(event, false))
  }

  /** Store the ranges that a drag on the plot or its axes has set. */
  #follow(event, final) {
    const x = [event['xaxis.range[0]'], event['xaxis.range[1]']]
    const y = [event['yaxis.range[0]'], event['yaxis.range[1]']]
    if (x[0] === undefined && y[0] === undefined) return
    if (x[0] !== undefined) this.range = x.map((shown) => shown / this.scene.factor)
    if (y[0] !== undefined) this.yRange = y
    this.#measure()
    if (final) this.onZoom(this, { reset: false })
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
    .filter(({ middle }) => middle >= geometry.left && middle <= geometry.right)
    .toSorted((a, b) => a.middle - b.middle)
  const middles = seen.map(({ middle }) => middle)
  const ends = [geometry.left + BADGE / 2 + 1, geometry.right - BADGE / 2 - 1]
  const places = labels.spreadWithin(middles, BADGE + 2, ends)
  return seen.map(({ window }, k) => {
    // The list of the steps is what keyboard and screen reader use.
    const badge = h(
      `div.so-badge${window.selected ? '.so-selected' : ''}`,
      { 'aria-hidden': 'true', 'data-step': window.id, title: window.title },
      String(window.number),
    )
    if (window.side) badge.classList.add(`so-${window.side}`)
    badge.style.transform = `translate(${Math.round(places[k] - BADGE / 2)}px, ${geometry.bottom - BADGE - 1}px)`
    return badge
  })
}

function hatching({ hatch }) {
  return marks.svg(
    'defs',
    {},
    marks.svg(
      'pattern',
      { id: hatch, width: 6, height: 6, patternUnits: 'userSpaceOnUse', patternTransform: 'rotate(45)' },
      marks.svg('rect', { class: 'so-hatch', width: 2, height: 6 }),
    ),
  )
}
