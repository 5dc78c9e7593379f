// The interactive spectrum: the whole spectrum above, the window of the selected step below. `window.Plotly` must be
// loaded first (plotly.min.js, a classic script).

import { fill, h } from '../common/dom.js'
import { idle, painted, pause } from '../common/idle.js'
import { windowText } from '../common/format.js'
import { t, word } from '../common/language.js'
import { Controls, FIRST, nextLines, nextList, nextSmoothing, remembered } from './controls.js'
import { draggedTo, extent, nudged, otherFrame, screenGrain, windowInData } from './frames.js'
import { Naming, attachGestures } from './gestures.js'
import { C_KMS, inMedium, smooth } from './math.js'
import { drawLegend } from './overlays.js'
import { Panel } from './panel.js'
import { continuumOf, divided, dividedBy } from './continuum.js'
import { taskRange } from './ranges.js'
import { compose, offScaleText, prepare, readColours, reading } from './scene.js'
import { describeWhole, describeWindow } from './summary.js'
import { WidthTool } from './width.js'

const SETTLE = 200 // ms that a plot has to stay before it is described
const POINTED = 4 // px between pointer and a line that it is on
const CONTEXT = 0.03 // of a window's width, shown on either side of it in the lower plot
const TOGGLES = ['error', 'sky', 'agent', 'normalised', 'brush']
const CURVES = ['template', 'template-next', 'model', 'exposures']

const ignore = () => {}
/** The options of a view that has none. @type {any} */
const IGNORED = {
  ...{ onWindow: ignore, onSelect: ignore, onState: ignore, onOverlay: ignore, copy: ignore },
  ...{ picture: () => null, buttons: [], menu: () => [] },
  measure: () => Promise.reject(new Error(t('Equivalent widths cannot be measured here.'))),
}

export class SpectrumView {
  /** @type {Set<Panel>} panels to be drawn */
  stale = new Set()
  ending = new AbortController()

  /**
   * @param {HTMLElement} root  filled by the view; its size decides the plots'
   * @param {any} options
   *   onWindow(lo, hi, {final, id})  the selected step's window was changed; values are in that step's own frame
   *   onSelect(stepId)               a numbered band was clicked
   *   onState(state)                 redshift, smoothing or a toggle changed
   *   onOverlay(kind)                a template, the model or the exposures are to be shown, or no longer
   *   picture(stepId)                -> {url, title} of what the agent saw there, or null
   *   buttons, menu()                further buttons of the toolbar, and entries of its menu
   *   measure(lo, hi)                -> the equivalent width between two wavelengths of the data, a promise
   *   copy(text)                     a measured number is to be copied
   *   state                          an earlier value of onState, to start with
   */
  constructor(root, options = {}) {
    this.plotly = window.Plotly
    if (!this.plotly) throw new Error('SpectrumView: window.Plotly is missing; load plotly.min.js first')
    this.root = root
    this.on = { ...IGNORED, ...options }
    this.state = { ...FIRST, ...this.on.state }
    this.item = null // the item shown, see `show`
    this.selected = null // the step whose window is selected
    this.chosen = null // the step that the person chose
    this.freeRange = null // a range of the lower plot that belongs to no step
    this.dragged = null // the window being dragged, with its new edges
    this.lowerRange = null // the window that the lower plot shows
    this.home = null // with which the upper plot begins, see `taskRange`; null: everything
    /** @type {any} */
    this.scene = null // the content drawn last, see `compose`
    this.data = null // values that depend on the data only, see `prepare`
    this.drawn = null // the data as smoothed and normalised
    this.raw = null // the flux under a smoothed one
    this.faint = null // the flux of pixels without a variance
    this.continuum = null // what the fluxes are divided by
    this.colours = null
    const bar = h('div')
    const hosts = ['full', 'step'].map((name) => h(`div.so-${name}`))
    this.readout = h('div.so-readout')
    this.legend = h('ul.so-legend', { hidden: true, 'aria-label': t('Curves drawn with the data') })
    this.tip = h('div.so-tip', { hidden: true, role: 'tooltip' })
    this.picture = h('figure.so-agent', { hidden: true })
    this.width = new WidthTool({
      panels: () => [this.step, this.full],
      measure: this.on.measure,
      copy: this.on.copy,
      changed: () => this.#drawControls(),
      redraw: () => this.#drawWidth(),
    })
    root.classList.add('so-view')
    root.replaceChildren(bar, ...hosts, h('div.so-notes', this.legend, this.width.root), this.tip)
    const parts = { ...this.on, readout: this.readout, hatch: () => this.full.hatch }
    this.controls = new Controls(bar, (name, argument) => this.command(name, argument), parts)
    const [full, step] = ['full', 'step'].map(
      (name, at) => new Panel(hosts[at], name, this.plotly, (panel) => this.#paint(panel)),
    )
    this.full = full
    this.step = step
    this.panels = [full, step]
    hosts[1].append(this.picture)
    this.naming = new Naming(root, {
      onRedshift: (z) => this.#set({ z }),
      onMark: (wavelength) => this.panels.forEach((panel) => panel.showCursor(wavelength)),
    })
    for (const panel of this.panels) attachGestures(panel, this.#gestures(panel), this.ending.signal)
    for (const panel of this.panels) panel.resize(panel.host.clientWidth, panel.host.clientHeight)
    this.sizes = new ResizeObserver((entries) => {
      for (const { target, contentRect } of entries) {
        const panel = this.panels[hosts.indexOf(/** @type {any} */ (target))]
        if (panel.resize(contentRect.width, contentRect.height) && this.item) this.#paint(panel)
      }
    })
    for (const host of hosts) this.sizes.observe(host)
  }

  /**
   * Show another item. The zoom is reset; smoothing and toggles stay; the redshift is the item's `z`, otherwise the
   * file's. @param {any} item
   */
  show(item) {
    this.item = { windows: [], lines: [], bands: [], second: [], overlays: [], offers: {}, ...item }
    this.state.z = item.z ?? item.redshift ?? 0
    this.state.brush = false
    this.freeRange = this.dragged = null
    this.highlight(null)
    this.selected = this.chosen = item.selected ?? null
    this.data = prepare(item.spectrum)
    this.width.show(item.spectrum, this.data)
    this.home = taskRange(this.item)
    this.full.setRange(this.home)
    this.#smooth()
    this.#aim()
  }

  /**
   * Show other `windows`, `second`, `editable` or `overlays` of the same item, or another step as `selected`. The zoom
   * stays, but the lower plot follows its window.
   * @param {any} change
   */
  update({ selected = this.selected, ...changed }) {
    if (!this.item) return
    for (const part of ['windows', 'second', 'editable', 'overlays'])
      if (part in changed) this.item[part] = changed[part]
    if (selected !== this.selected) {
      this.freeRange = null
      this.chosen = selected
    }
    this.selected = selected
    if (this.dragged) this.#drawWindows()
    else if (this.lowerRange?.join() !== this.#lowerTarget()?.join()) this.#aim()
    else if ('overlays' in changed) this.#draw()
    else {
      this.#drawWindows()
      this.#drawControls()
      this.#drawPicture()
    }
  }

  /** Show changed windows: their marks move at once, the lower plot with the next update. */
  prepareWindows(windows) {
    this.item.windows = windows
    this.#drawWindows()
  }

  /** The range of the upper plot, in the data's wavelengths (Å). */
  visibleRange() {
    return this.full.range ?? extent(this.item.spectrum.wavelength)
  }

  /**
   * Select the window of a step: the lower plot goes to it; with `zoomTo` the upper one moves if it does not show it.
   * @param {string | null} stepId
   * @param {{zoomTo?: boolean, chosen?: string | null}} options `chosen`: the step that the person chose, whose window
   *   it is not if it has none of its own
   */
  select(stepId, { zoomTo = false, chosen = stepId } = {}) {
    this.selected = stepId
    this.chosen = chosen
    this.freeRange = null
    if (!this.item) return
    const window = this.#window()
    if (zoomTo && window && this.full.range) this.#reveal(windowInData(window, this.item.spectrum))
    this.#aim()
  }

  /**
   * Run the command of a key or a button; false for an unknown name.
   * @param {string} name @param {any} [argument]
   */
  command(name, argument) {
    const { pointed, state, width } = this
    /** @type {Record<string, () => unknown>} */
    const commands = {
      ...Object.fromEntries(TOGGLES.map((part) => [part, () => this.#set({ [part]: argument ?? !state[part] })])),
      ...Object.fromEntries(CURVES.map((kind) => [kind, () => this.on.onOverlay(kind)])),
      'smooth+': () => this.#set({ smoothing: nextSmoothing(state.smoothing, 1) }),
      'smooth-': () => this.#set({ smoothing: nextSmoothing(state.smoothing, -1) }),
      smooth: () => this.#set({ smoothing: argument }),
      lines: () => this.#set(nextLines(state)),
      linelist: () => this.#set({ lines: true, lineList: argument ?? nextList(state.lineList) }),
      unmeasured: () => this.#toggleUnmeasured(),
      width: () => width.press(pointed),
      'width-mode': () => width.set(!width.on),
      'width-off': () => width.on && width.close(),
      frame: () => this.#set({ frame: otherFrame(state.frame) }),
      unit: () => this.#set({ unit: state.unit === 'z' ? 'km/s' : 'z' }),
      redshift: () => this.controls.focusRedshift(),
      z: () => this.#set({ z: argument }),
      'z-file': () => this.#set({ z: this.item.redshift ?? 0 }),
      'name-line': () => pointed && this.#nameLine(pointed.panel, pointed.wavelength),
      reset: () => this.#reset(this.full, this.step),
      'zoom-in': () => this.#move(this.full, 0.5),
      'zoom-out': () => this.#move(this.full, 2),
    }
    if (!Object.hasOwn(commands, name)) return false
    if (this.item) commands[name]()
    return true
  }

  /** Set the theme of the document and draw in its colours. */
  setTheme(theme) {
    document.documentElement.dataset.theme = theme
    this.colours = null
    if (this.item) this.#draw()
  }

  /** Remove the view from the page. */
  destroy() {
    this.ending.abort()
    this.sizes.disconnect()
    for (const panel of this.panels) if (panel.gd) this.plotly.purge(panel.gd)
    this.root.replaceChildren()
  }

  #gestures(panel) {
    return {
      brushing: () => this.state.brush,
      measuring: () => this.width.on,
      width: (span, final) => this.width.drag(span, final),
      select: (id) => id !== this.selected && this.on.onSelect(id), // a band or its number is clicked
      hover: (wavelength) => this.#hover(wavelength, panel),
      name: (wavelength) => this.#nameLine(panel, wavelength), // right click
      window: (span, final) => this.#drag(span, final, panel),
      selected: () => this.scene?.windows.find((window) => window.selected) ?? null,
      nudge: (end, pixels) => this.#nudge(end, pixels),
      wheel: (wavelength, event) => this.#wheel(panel, wavelength, event),
      line: (index, point) => this.#nameTip(index, point, panel),
      zoomToLine: (index) => this.#zoomToLine(index),
      zooming: (span, heights) => panel.showBrush(span, heights), // between two heights, too, if they are given
      zoom: (span, heights) => this.#zoom(panel, span, heights),
      reset: () => this.#reset(panel),
      offScale: (pixel, point) => this.#showTip(offScaleText(this.scene, pixel), point, panel),
    }
  }

  #set(change) {
    const before = this.state
    this.state = { ...before, ...change }
    const { frame, normalised, smoothing, z } = this.state
    if (before.smoothing !== smoothing || before.normalised !== normalised) this.#smooth()
    // Fluxes have another unit: a zoom of the flux axis no longer fits.
    if (before.normalised !== normalised) for (const panel of this.panels) panel.setRange(panel.range)
    // The same pixels on another axis: a range that plotly remembers would be on the old one.
    if (before.frame !== frame || (before.z !== z && this.scene.factor !== 1))
      for (const panel of this.panels) panel.revision += 1
    this.#draw()
    const state = remembered(this.state, change)
    if (state) this.on.onState(state)
  }

  #toggleUnmeasured() {
    if (this.data.unmeasured) this.#set({ unmeasured: !this.state.unmeasured })
    else this.readout.textContent = t('Every pixel with a flux in this file has ivar above 0.')
  }

  #smooth() {
    const { spectrum } = this.item
    const { smoothing, normalised } = this.state
    this.continuum = normalised ? continuumOf(spectrum) : null
    const shown = (/** @type {any} */ data) => (this.continuum ? divided(data, this.continuum) : data)
    this.drawn = shown(smoothing > 0 ? smooth(spectrum.flux, spectrum.ivar, smoothing) : this.data)
    this.raw = smoothing > 0 ? shown(this.data).flux : null
    const { unmeasured } = this.data
    this.faint = unmeasured && this.continuum ? dividedBy(unmeasured, this.continuum) : unmeasured
  }

  #window() {
    return this.item.windows.find((window) => window.id === this.selected) ?? null
  }

  /** The selected window if it may be dragged. */
  #draggable() {
    return this.item.editable === false ? null : this.#window()
  }

  /** The range of the lower plot in the data's wavelengths: the selected window, or a range that the person chose. */
  #lowerTarget() {
    const window = this.#window()
    return this.freeRange ?? (window && windowInData(window, this.item.spectrum))
  }

  /** Show what the lower plot is to show, and draw everything. */
  #aim() {
    const aimed = (this.lowerRange = this.#lowerTarget())
    this.step.setRange(withContext(aimed))
    this.step.host.classList.toggle('so-idle', !aimed)
    this.full.alone = !aimed
    this.#draw()
  }

  /** Draw everything once, after the caller has finished: showing an item and selecting its step is one drawing. */
  #draw() {
    this.#compose()
    this.#drawControls()
    drawLegend(this.legend, this.item.overlays, this.scene.overlays, this.scene.unmeasured)
    this.readout.textContent = this.#defaultReadout()
    for (const panel of this.panels) this.#paint(panel)
  }

  #paint(panel) {
    if (this.stale.size === 0) queueMicrotask(() => this.#paintStale())
    this.stale.add(panel)
  }

  #paintStale() {
    const shown = [...this.stale].filter((panel) => this.#isShown(panel))
    this.stale.clear()
    if (this.ending.signal.aborted) return
    // Plotly measures the page, which is fast if nothing has changed since the last time.
    for (const panel of shown) panel.paint()
    for (const panel of shown) panel.paintMarks()
    this.#drawRange()
    this.#drawPicture()
    this.#describe()
  }

  #isShown = (panel) => panel === this.full || panel.range

  /** What the agent saw, in place of the window plot. */
  #drawPicture() {
    const shown = this.state.agent ? this.on.picture(this.chosen) : null
    this.step.host.classList.toggle('so-pictured', shown !== null)
    drawPicture(this.picture, shown)
  }

  /** Describe the plots in words, once they stay as they are. */
  async #describe() {
    const { full, scene, step } = this
    this.described = scene
    await painted()
    await pause(SETTLE)
    await idle()
    if (this.described !== scene || this.ending.signal.aborted) return
    if (full.geometry) full.summary.textContent = describeWhole(scene, full.geometry.range)
    step.summary.textContent = step.range && step.geometry ? describeWindow(scene, step.geometry.range) : ''
  }

  #drawWindows() {
    this.#compose()
    for (const panel of this.panels) if (this.#isShown(panel)) panel.paintWindows()
  }

  #compose() {
    this.colours ??= readColours(this.root)
    this.scene = compose(this.item, this.state, this)
    for (const panel of this.panels) panel.scene = this.scene
  }

  /** Let the upper plot show these wavelengths: with the range with which it begins, or else all of them. */
  #reveal(/** @type {number[]} */ [lo, hi]) {
    const { full, home } = this
    const isIn = (range) => lo >= range[0] && hi <= range[1]
    if (full.range && !isIn(full.range)) full.setRange(home && isIn(home) ? home : null)
  }

  /** The upper plot goes to the range with which it began; from there to everything, and back. */
  #reset(...panels) {
    if (panels.includes(this.full)) this.full.setRange(this.full.range === this.home ? null : this.home)
    if (panels.includes(this.step)) this.#aim()
    this.readout.textContent = this.#defaultReadout()
    for (const panel of panels) this.#paint(panel)
  }

  /** Show a range of the data's wavelengths (Å) in the lower plot, with the upper one around it. */
  goTo(/** @type {number[]} */ range) {
    if (!this.item) return
    this.#reveal(range)
    this.freeRange = range
    this.#aim()
  }

  /** Show exactly this range of the data's wavelengths (Å) in the lower plot. */
  showInWindow(/** @type {number[]} */ range) {
    if (!this.item) return
    this.goTo(range)
    this.step.setRange(range)
  }

  /** The range of the lower plot, in the data's wavelengths (Å), if a person chose it; null: that of a window. */
  chosenRange() {
    const { range } = this.step
    const same = this.freeRange === null && range?.join() === withContext(this.#lowerTarget())?.join()
    return range && !same ? range : null
  }

  /** Light up a range of the data's wavelengths (Å) in both plots; null: none. */
  highlight(/** @type {number[] | null} */ range) {
    for (const panel of this.panels) panel.highlight(range)
  }

  #drawControls() {
    const measuring = this.width.on
    this.root.classList.toggle('so-brushing', this.state.brush || measuring)
    this.controls.render(this.state, this.item, { measuring, hasUnmeasured: this.data.unmeasured !== null })
  }

  /** The button that changes between the range with which a long spectrum begins and all of it says which is next. */
  #drawRange() {
    const { home } = this
    const next = home && this.full.range === home ? t('show all') : t('zoom out')
    this.controls.showReset(next, home ? t('{range} in all', { range: plainRange(this.item.spectrum.wavelength) }) : '')
  }

  #drawWidth() {
    this.#compose()
    for (const panel of this.panels) panel.paintWidth()
  }

  /** Zoom a panel by a factor about a wavelength. */
  #move(panel, by, around) {
    panel.zoom(by, around)
    this.#paint(panel)
  }

  /** Show a dragged part: its wavelengths, and its flux if it was dragged between two heights. */
  #zoom(panel, span, heights) {
    const fluxes = heights ? panel.fluxesAt(heights) : panel.yRange
    panel.zoomTo(span)
    panel.yRange = fluxes
    this.#paint(panel)
  }

  #wheel(panel, wavelength, event) {
    this.turned = (this.turned ?? 0) + (event.deltaY || event.deltaX)
    this.turning ??= requestAnimationFrame(() => {
      const turned = Math.max(-300, Math.min(300, this.turned))
      this.turning = this.turned = null
      this.#move(panel, Math.exp(turned / 500), wavelength)
    })
  }

  #zoomToLine(index) {
    const { at } = this.scene.lines.find((line) => line.index === index)
    const reach = (at * 4000) / C_KMS
    this.full.zoomTo([at - reach, at + reach])
    this.#paint(this.full)
  }

  /** A window is being dragged to `span` (the data's wavelengths), released (`final`), or cancelled (null). */
  #drag(span, final, panel) {
    const window = this.#draggable()
    if (!window) return this.#showRange(span, final)
    const { id } = window
    if (span === null) {
      this.dragged = null
      this.#drawWindows()
      this.on.onWindow(window.lo, window.hi, { final: false, id })
    } else if (final) this.#settle()
    else {
      const { spectrum } = this.item
      const { lo, hi } = draggedTo(span, window, spectrum, screenGrain(panel, window, spectrum))
      this.dragged = { id, lo, hi }
      this.#drawWindows()
      const values = { number: window.number, window: windowText(lo, hi), frame: word(window.frame) }
      this.readout.textContent = t('step {number}: {window} {frame}', values)
      this.on.onWindow(lo, hi, { final, id })
    }
  }

  /** The dragged window keeps its new edges. */
  #settle() {
    const { id, lo, hi } = this.dragged
    this.item.windows = this.item.windows.map((each) => (each.id === id ? { ...each, lo, hi } : each))
    this.dragged = null
    this.state.brush = false
    this.#aim()
    this.on.onWindow(lo, hi, { final: true, id })
  }

  /** Show a dragged range in the lower plot; used if there is no window to change. */
  #showRange(span, final) {
    if (span) this.freeRange = span
    for (const panel of this.panels) panel.showBrush(final || !span ? null : this.freeRange)
    if (!final || !this.freeRange) return
    this.state.brush = false
    this.#aim()
  }

  #nudge(end, pixels) {
    const window = this.#draggable()
    const moved = window && nudged(window, this.item.spectrum, end, pixels)
    if (!moved) return
    this.dragged = { id: window.id, ...moved }
    this.#settle()
  }

  #nameLine(panel, wavelength) {
    if (!this.naming.open(panel, wavelength, this.item, this.state))
      this.readout.textContent = t('These data are in the rest frame: a line cannot give a redshift')
  }

  #hover(wavelength, panel) {
    if (!this.naming.menu.hidden) return
    this.pointed = wavelength === null ? null : { panel, wavelength }
    for (const shown of this.panels) {
      shown.showCursor(wavelength)
      shown.showSky(wavelength)
    }
    if (this.dragged || !this.scene) return
    this.readout.textContent =
      wavelength === null
        ? this.#defaultReadout()
        : reading(this.scene, this.state, wavelength, POINTED * panel.geometry.perPixel)
  }

  /** The readout while the pointer is elsewhere. */
  #defaultReadout() {
    const { home } = this
    if (home && this.full.range === home)
      return t('above: {range} of {all}', { range: plainRange(home), all: plainRange(this.item.spectrum.wavelength) })
    return this.lowerRange ? '' : t('No window. Hold Shift and drag to zoom in.')
  }

  #nameTip(index, point, panel) {
    this.tip.hidden = index === null
    if (index === null) return
    const { name, wavelength, medium, kind, task } = this.item.lines[index]
    const [air, vacuum] = ['air', 'vacuum'].map((other) => inMedium(wavelength, medium, other).toFixed(2))
    const about = [`${vacuum} ${t('vac')}`, kind !== 'both' && word(kind), task && t('in the guide')].filter(Boolean)
    this.#showTip([`${name} ${air} ${word('air')}`, ...about].join(' · '), point, panel)
  }

  /** A tooltip at a point of a panel. */
  #showTip(text, point, panel) {
    this.tip.hidden = false
    this.tip.textContent = text
    const x = Math.min(point.x, panel.width - this.tip.offsetWidth - 4)
    this.tip.style.transform = `translate(${Math.max(4, x)}px, ${panel.host.offsetTop + Math.max(0, point.y - 30)}px)`
  }
}

/**
 * Show a picture that the agent saw.
 * @param {HTMLElement} figure @param {{url: string, title: string} | null} picture
 */
export function drawPicture(figure, picture) {
  figure.hidden = !picture
  if (!picture || picture.url === figure.querySelector('img')?.getAttribute('src')) return
  const { title, url } = picture
  fill(figure, h('figcaption', title), h('img', { src: url, alt: title }))
}

/** A range with some of the spectrum on either side. @param {number[] | null} range */
function withContext(range) {
  if (!range) return null
  const margin = Math.max(CONTEXT * (range[1] - range[0]), 0.5)
  return [range[0] - margin, range[1] + margin]
}

/** "3700 – 9300 Å" of an increasing list of wavelengths. */
const plainRange = (wavelengths) => windowText(Math.round(wavelengths[0]), Math.round(wavelengths.at(-1)))
