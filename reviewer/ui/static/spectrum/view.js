// The interactive spectrum: the whole spectrum above, the window of the selected step below. `window.Plotly` must be
// loaded first (plotly.min.js, a classic script).

import { fill, h } from '../common/dom.js'
import { idle, painted, pause } from '../common/idle.js'
import { windowText } from '../common/format.js'
import { t, word } from '../common/language.js'
import { Controls, FIRST, nextLines, nextList, nextSmoothing, remembered, steppedRedshift } from './controls.js'
import { draggedTo, nudged, otherFrame, screenGrain, windowInData } from './frames.js'
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

/** @type {(...report: any[]) => void} */
const IGNORE = () => {}

/** @type {(lo: number, hi: number) => Promise<any>} */
const noMeasure = () => Promise.reject(new Error(t('Equivalent widths cannot be measured here.')))

export class SpectrumView {
  /** @type {any} the item shown, see `show` */
  item
  /** @type {any} plotly.js */
  plotly
  /** @type {Panel} the whole spectrum */
  full
  /** @type {Panel} the window of the selected step */
  step
  /** @type {Panel[]} */
  panels
  /** @type {Controls} */
  controls
  /** @type {Naming} */
  naming
  /** @type {HTMLElement} */
  readout
  /** @type {HTMLElement} */
  tip
  /** @type {HTMLElement} what the agent saw */
  picture
  /** @type {ResizeObserver} */
  sizes
  /** @type {any} the content drawn last, see `compose` */
  scene
  /** @type {any} values that depend on the data only, see `prepare` */
  data
  /** @type {any} the data as smoothed and normalised */
  drawn
  /** @type {Float64Array | null} the flux under a smoothed one */
  raw = null
  /** @type {Float64Array | null} the flux of pixels without a variance */
  faint = null
  /** @type {Float64Array | null} what the fluxes are divided by */
  continuum = null
  /** @type {WidthTool} */
  width
  /** @type {HTMLElement} the names of the overlays */
  legend
  /** @type {any} */
  colours
  /** @type {number[] | null | undefined} the window that the lower plot shows */
  lowerRange
  /** @type {number[] | null} with which the upper plot begins, see `taskRange`; null: everything */
  home = null

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
  constructor(
    root,
    {
      onWindow = IGNORE,
      onSelect = IGNORE,
      onState = IGNORE,
      onOverlay = IGNORE,
      measure = noMeasure,
      picture = () => /** @type {{url: string, title: string} | null} */ (null),
      buttons = /** @type {HTMLElement[]} */ ([]),
      menu = () => /** @type {HTMLElement[]} */ ([]),
      copy = IGNORE,
      state = {},
      plotly = window.Plotly,
    } = {},
  ) {
    if (!plotly) throw new Error('SpectrumView: window.Plotly is missing; load plotly.min.js first')
    this.root = root
    this.on = { window: onWindow, select: onSelect, state: onState, overlay: onOverlay, measure, copy, picture }
    this.state = { ...FIRST, ...state }
    this.item = null
    /** @type {string | null | undefined} the step whose window is selected */
    this.selected = null
    /** @type {string | null | undefined} the step that the person chose */
    this.chosen = null
    /** @type {any} a range of the lower plot that belongs to no step */
    this.freeRange = null
    /** @type {any} the window being dragged, with its new edges */
    this.dragged = null
    /** @type {Set<Panel>} panels to be drawn */
    this.stale = new Set()
    this.ending = new AbortController()
    this.#build(plotly, buttons, menu)
  }

  /**
   * Show another item. The zoom is reset; smoothing and toggles stay; the redshift is the item's `z`, otherwise the
   * file's. @param {any} item
   */
  show(item) {
    this.item = { windows: [], lines: [], bands: [], second: [], overlays: [], offers: {}, ...item }
    this.state.z = item.z ?? item.redshift ?? 0
    this.state.brush = false
    this.freeRange = null
    this.dragged = null
    this.highlight(null)
    this.selected = this.chosen = item.selected ?? null
    this.data = prepare(item.spectrum)
    this.width.show(item.spectrum, this.data)
    this.home = taskRange(this.item)
    this.full.setRange(this.home)
    this.#smooth()
    this.#aim()
    this.#draw()
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
    if (this.dragged) {
      this.#drawWindows()
      return
    }
    const moved = this.lowerRange?.join() !== this.#lowerTarget()?.join()
    if (moved) this.#aim()
    if (moved || 'overlays' in changed) this.#draw()
    else {
      this.#compose()
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
    const { wavelength } = this.item.spectrum
    return this.full.range ?? [wavelength[0], wavelength[wavelength.length - 1]]
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
    if (zoomTo && window && this.full.range) {
      const [lo, hi] = windowInData(window, this.item.spectrum)
      if (lo < this.full.range[0] || hi > this.full.range[1]) this.full.setRange(this.#homeAround(lo, hi))
    }
    this.#aim()
    this.#draw()
  }

  /**
   * Run the command of a key or a button; false for an unknown name.
   * @param {string} name @param {any} [argument]
   */
  command(name, argument) {
    /** @type {Record<string, () => unknown>} */
    const commands = {
      'smooth+': () => this.#set({ smoothing: nextSmoothing(this.state.smoothing, 1) }),
      'smooth-': () => this.#set({ smoothing: nextSmoothing(this.state.smoothing, -1) }),
      smooth0: () => this.#set({ smoothing: 0 }),
      smooth: () => this.#set({ smoothing: Math.max(0, Math.min(20, argument)) }),
      error: () => this.#set({ error: argument ?? !this.state.error }),
      lines: () => this.#set(argument === undefined ? nextLines(this.state) : { lines: argument }),
      linelist: () => this.#set({ lines: true, lineList: argument ?? nextList(this.state.lineList) }),
      sky: () => this.#set({ sky: argument ?? !this.state.sky }),
      template: () => this.on.overlay('template'),
      'template-next': () => this.on.overlay('template-next'),
      model: () => this.on.overlay('model'),
      exposures: () => this.on.overlay('exposures'),
      agent: () => this.#set({ agent: argument ?? !this.state.agent }),
      normalised: () => this.#set({ normalised: argument ?? !this.state.normalised }),
      unmeasured: () => this.#setUnmeasured(argument ?? !this.state.unmeasured),
      width: () => this.width.press(this.pointed),
      'width-mode': () => this.width.set(!this.width.on),
      'width-off': () => this.width.on && this.width.close(),
      frame: () => this.#set({ frame: argument ?? otherFrame(this.state.frame) }),
      unit: () => this.#set({ unit: this.state.unit === 'z' ? 'km/s' : 'z' }),
      redshift: () => this.controls.focusRedshift(),
      z: () => this.#set({ z: argument }),
      'z+': () => this.#set({ z: steppedRedshift(this.state.z, 1e-4) }),
      'z-': () => this.#set({ z: steppedRedshift(this.state.z, -1e-4) }),
      'z-file': () => this.#set({ z: this.item.redshift ?? 0 }),
      'name-line': () => this.pointed && this.#nameLine(this.pointed.panel, this.pointed.wavelength),
      brush: () => this.#set({ brush: argument ?? !this.state.brush }),
      reset: () => this.#reset(this.full, this.step),
      'y-auto': () => this.#refit(),
      'pan-left': () => this.#move(this.full, { pan: -0.25 }),
      'pan-right': () => this.#move(this.full, { pan: 0.25 }),
      'zoom-in': () => this.#move(this.full, { by: 0.5 }),
      'zoom-out': () => this.#move(this.full, { by: 2 }),
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

  #build(plotly, buttons, menu) {
    this.plotly = plotly
    const bar = h('div')
    this.readout = h('div.so-readout')
    this.legend = h('ul.so-legend', { hidden: true, 'aria-label': t('Curves drawn with the data') })
    const [full, step] = ['full', 'step'].map((name) => h(`div.so-${name}`))
    this.tip = h('div.so-tip', { hidden: true, role: 'tooltip' })
    this.root.classList.add('so-view')
    this.width = new WidthTool({
      panels: () => [this.step, this.full],
      measure: (lo, hi) => this.on.measure(lo, hi),
      copy: (text) => this.on.copy(text),
      changed: () => this.#drawControls(),
      redraw: () => this.#drawWidth(),
    })
    this.picture = h('figure.so-agent', { hidden: true })
    const notes = h('div.so-notes', this.legend, this.width.root)
    this.root.replaceChildren(bar, full, step, notes, this.tip)
    this.controls = new Controls(bar, (name, argument) => this.command(name, argument), {
      buttons,
      menu,
      readout: this.readout,
      hatch: () => this.full.hatch,
    })
    const onZoom = (panel) => this.#paint(panel)
    this.full = new Panel(full, { name: 'full', plotly, onZoom })
    this.step = new Panel(step, { name: 'step', plotly, onZoom })
    step.append(this.picture)
    this.panels = [this.full, this.step]
    this.naming = new Naming(this.root, {
      onRedshift: (z) => this.#set({ z }),
      onMark: (wavelength) => {
        for (const panel of this.panels) panel.showCursor(wavelength)
      },
    })
    for (const panel of this.panels) attachGestures(panel, this.#gestures(panel), this.ending.signal)
    this.#watchSize()
  }

  #watchSize() {
    for (const panel of this.panels) panel.resize(panel.host.clientWidth, panel.host.clientHeight)
    this.sizes = new ResizeObserver((entries) => {
      for (const { target, contentRect } of entries) {
        const panel = this.panels.find(({ host }) => host === target)
        if (!panel) continue
        const same = Math.round(contentRect.width) === panel.width && Math.round(contentRect.height) === panel.height
        panel.resize(contentRect.width, contentRect.height)
        if (this.item && !same) this.#paint(panel)
      }
    })
    for (const { host } of this.panels) this.sizes.observe(host)
  }

  #gestures(panel) {
    return {
      brushing: () => this.state.brush,
      measuring: () => this.width.on,
      width: (span, { final }) => this.width.drag(span, final),
      select: (id) => {
        if (id !== this.selected) this.on.select(id)
      },
      hover: (wavelength) => this.#hover(wavelength, panel),
      name: (wavelength) => this.#nameLine(panel, wavelength),
      window: (span, { final }) => this.#drag(span, final, panel),
      selected: () => this.scene?.windows.find((window) => window.selected) ?? null,
      nudge: (end, pixels) => this.#nudge(end, pixels),
      wheel: (target, wavelength, event) => this.#wheel(target, wavelength, event),
      line: (index, point) => this.#name(index, point, panel),
      zoomToLine: (index) => this.#zoomToLine(index),
      zooming: (span, heights) => panel.showBrush(span, heights),
      zoom: (span, heights) => this.#zoom(panel, span, heights),
      reset: () => this.#reset(panel),
      offScale: (pixel, point) => this.#showTip(offScaleText(this.scene, pixel), point, panel),
    }
  }

  #set(change) {
    const before = this.state
    this.state = { ...this.state, ...change }
    if (before.smoothing !== this.state.smoothing || before.normalised !== this.state.normalised) this.#smooth()
    // Fluxes have another unit: a zoom of the flux axis no longer fits.
    if (before.normalised !== this.state.normalised) for (const panel of this.panels) panel.setRange(panel.range)
    if (before.frame !== this.state.frame || (before.z !== this.state.z && this.scene.factor !== 1)) {
      // The same pixels on another axis: a range that plotly remembers would be on the old one.
      for (const panel of this.panels) panel.revision += 1
    }
    this.#draw()
    const state = remembered(this.state, change)
    if (state) this.on.state(state)
  }

  #setUnmeasured(on) {
    if (this.data.unmeasured) this.#set({ unmeasured: on })
    else this.#setReadout(t('Every pixel with a flux in this file has ivar above 0.'))
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

  /** The range of the lower plot in the data's wavelengths: the selected window, or a range that the person chose. */
  #lowerTarget() {
    const window = this.#window()
    return this.freeRange ?? (window && windowInData(window, this.item.spectrum))
  }

  #aim() {
    const aimed = this.#lowerTarget()
    this.lowerRange = aimed
    this.step.setRange(withContext(aimed))
    this.step.host.classList.toggle('so-idle', !aimed)
    this.full.alone = !aimed
  }

  /** Draw everything once, after the caller has finished: showing an item and selecting its step is one drawing. */
  #draw() {
    this.#compose()
    this.#drawControls()
    drawLegend(this.legend, this.item.overlays, this.scene.overlays, this.scene.unmeasured)
    this.#setReadout(this.#defaultReadout())
    for (const panel of this.panels) this.#paint(panel)
  }

  #paint(panel) {
    panel.scene = this.scene
    if (this.stale.size === 0) queueMicrotask(() => this.#paintStale())
    this.stale.add(panel)
  }

  #paintStale() {
    const panels = [...this.stale]
    this.stale.clear()
    if (this.ending.signal.aborted) return
    const shown = panels.filter((panel) => panel === this.full || panel.range)
    // Plotly measures the page, which is fast if nothing has changed since the last time.
    for (const panel of shown) panel.paint(this.scene)
    for (const panel of shown) panel.paintMarks()
    this.#drawRange()
    this.#drawPicture()
    this.#describe()
  }

  /** What the agent saw, in place of the window plot. */
  #drawPicture() {
    const shown = this.state.agent ? this.on.picture(this.chosen) : null
    this.step.host.classList.toggle('so-pictured', shown !== null)
    drawPicture(this.picture, shown)
  }

  /** Describe the plots in words, once they stay as they are. */
  async #describe() {
    const { scene } = this
    this.described = scene
    await painted()
    await pause(SETTLE)
    await idle()
    if (this.described !== scene || this.ending.signal.aborted) return
    const { full, step } = this
    if (full.geometry) full.summary.textContent = describeWhole(scene, full.geometry.range)
    step.summary.textContent = step.range && step.geometry ? describeWindow(scene, step.geometry.range) : ''
  }

  #drawWindows() {
    this.#compose()
    for (const panel of this.panels) {
      panel.scene = this.scene
      if (panel === this.full || panel.range) panel.paintWindows()
    }
  }

  #compose() {
    this.colours ??= readColours(this.root)
    this.scene = compose(this.item, this.state, this)
  }

  /** The range with which the upper plot begins if it shows these wavelengths; else all of them. */
  #homeAround(lo, hi) {
    return this.home && lo >= this.home[0] && hi <= this.home[1] ? this.home : null
  }

  /** The upper plot goes to the range with which it began; from there to everything, and back. */
  #reset(...panels) {
    if (panels.includes(this.full)) this.full.setRange(this.full.range === this.home ? null : this.home)
    if (panels.includes(this.step)) this.#aim()
    this.#setReadout(this.#defaultReadout())
    for (const panel of panels) this.#paint(panel)
  }

  #refit() {
    for (const panel of this.panels) {
      panel.setRange(panel.range)
      this.#paint(panel)
    }
  }

  /** Show a range of the data's wavelengths (Å) in the lower plot, with the upper one around it. */
  goTo(/** @type {number[]} */ range) {
    if (!this.item) return
    const [lo, hi] = this.full.range ?? range
    if (range[0] < lo || range[1] > hi) this.full.setRange(this.#homeAround(range[0], range[1]))
    this.freeRange = range
    this.#aim()
    this.#draw()
  }

  /** Show exactly this range of the data's wavelengths (Å) in the lower plot. */
  showInWindow(/** @type {number[]} */ range) {
    if (!this.item) return
    this.goTo(range)
    this.step.setRange(range)
    this.#paint(this.step)
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
    this.root.classList.toggle('so-brushing', this.state.brush || this.width.on)
    this.controls.render(this.state, this.item, {
      measuring: this.width.on,
      hasUnmeasured: this.data.unmeasured !== null,
    })
  }

  /** The button that changes between the range with which a long spectrum begins and all of it says which is next. */
  #drawRange() {
    const { home } = this
    const next = home && this.full.range === home ? t('show all') : t('zoom out')
    this.controls.showReset(next, home ? t('{range} in all', { range: plainRange(this.item.spectrum.wavelength) }) : '')
  }

  #drawWidth() {
    this.#compose()
    for (const panel of this.panels) {
      panel.scene = this.scene
      panel.paintWidth()
    }
  }

  /** Move a panel by a fraction of its width, or zoom it by a factor about a wavelength, and paint it. */
  /** @param {Panel} panel @param {{by?: number, around?: number, pan?: number}} change */
  #move(panel, { by = 1, around, pan = 0 }) {
    panel.zoom(by, around, pan)
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
    if (this.turning) return
    this.turning = requestAnimationFrame(() => {
      const turned = Math.max(-300, Math.min(300, this.turned))
      this.turning = this.turned = null
      this.#move(panel, { by: Math.exp(turned / 500), around: wavelength })
    })
  }

  #zoomToLine(index) {
    const line = this.scene.lines.find((candidate) => candidate.index === index)
    const reach = (line.at * 4000) / C_KMS
    this.full.zoomTo([line.at - reach, line.at + reach])
    this.#paint(this.full)
  }

  /** A window is being dragged to `span` (the data's wavelengths), released (`final`), or cancelled (null). */
  #drag(span, final, panel) {
    const window = this.item.editable === false ? null : this.#window()
    if (!window) this.#showRange(span, final)
    else if (span === null) this.#giveUp(window)
    else this.#moveWindow(window, span, final, panel)
  }

  #moveWindow(window, span, final, panel) {
    if (!final) {
      const { spectrum } = this.item
      this.dragged = { id: window.id, ...draggedTo(span, window, spectrum, screenGrain(panel, window, spectrum)) }
      this.#drawWindows()
      this.#setReadout(
        t('step {number}: {window} {frame}', {
          number: window.number,
          window: windowText(this.dragged.lo, this.dragged.hi),
          frame: word(window.frame),
        }),
      )
    }
    const { lo, hi } = this.dragged
    if (final) this.#settle({ lo, hi })
    this.on.window(lo, hi, { final, id: window.id })
  }

  #settle(change) {
    this.item.windows = this.item.windows.map((window) =>
      window.id === this.dragged.id ? { ...window, ...change } : window,
    )
    this.dragged = null
    this.state.brush = false
    this.#aim()
    this.#draw()
  }

  #giveUp(window) {
    this.dragged = null
    this.#drawWindows()
    this.on.window(window.lo, window.hi, { final: false, id: window.id })
  }

  /** Show a dragged range in the lower plot; used if there is no window to change. */
  #showRange(span, final) {
    if (span) this.freeRange = span
    for (const panel of this.panels) panel.showBrush(final || !span ? null : this.freeRange)
    if (!final || !this.freeRange) return
    this.state.brush = false
    this.#aim()
    this.#draw()
  }

  #nudge(end, pixels) {
    const window = this.item.editable === false ? null : this.#window()
    const moved = window && nudged(window, this.item.spectrum, end, pixels)
    if (!moved) return
    this.dragged = { id: window.id, ...moved }
    this.#drag(undefined, true)
  }

  #nameLine(panel, wavelength) {
    if (!this.naming.open(panel, wavelength, this.item, this.state))
      this.#setReadout(t('These data are in the rest frame: a line cannot give a redshift'))
  }

  #hover(wavelength, panel) {
    if (!this.naming.menu.hidden) return
    this.pointed = wavelength === null ? null : { panel, wavelength }
    for (const shown of this.panels) {
      shown.showCursor(wavelength)
      shown.showSky(wavelength)
    }
    if (this.dragged || !this.scene) return
    const reach = POINTED * panel.geometry.perPixel
    this.#setReadout(wavelength === null ? this.#defaultReadout() : reading(this.scene, this.state, wavelength, reach))
  }

  /** The readout while the pointer is elsewhere. */
  #defaultReadout() {
    const part = this.home && this.full.range === this.home
    const ranges = () => ({ range: plainRange(this.home), all: plainRange(this.item.spectrum.wavelength) })
    if (part) return t('above: {range} of {all}', ranges())
    return this.lowerRange ? '' : t('No window. Hold Shift and drag to zoom in.')
  }

  #setReadout(text) {
    this.readout.textContent = text
  }

  #name(index, point, panel) {
    this.tip.hidden = index === null
    if (index === null) return
    const line = this.item.lines[index]
    const [air, vacuum] = ['air', 'vacuum'].map((medium) => inMedium(line.wavelength, line.medium, medium).toFixed(2))
    const kind = line.kind === 'both' ? '' : ` · ${word(line.kind)}`
    this.#showTip(
      `${line.name} ${air} ${word('air')} · ${vacuum} ${t('vac')}${kind}${line.task ? ` · ${t('in the guide')}` : ''}`,
      point,
      panel,
    )
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
const plainRange = (wavelengths) =>
  windowText(Math.round(wavelengths[0]), Math.round(wavelengths[wavelengths.length - 1]))
