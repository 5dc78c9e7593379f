// What catalogues know of the object: its place in the colour-magnitude plane, the surroundings, its fluxes against the
// spectrum's, numbers, light curve and names, and what each catalogue answered.

import { fill, h } from '../common/dom.js'
import { dateAndTime, number, parseNumber, plusMinus, significant } from '../common/format.js'
import { sentences, t, tn, withCommas } from '../common/language.js'
import { about } from './aids.js'
import { withPlots } from './plots.js'
import { brightness, chart, CURVE_SIGNS, plane, positionText, sourceFacts } from './sky_plots.js'

const FAR = 0.2 // mag between a catalogue and the spectrum; flux calibrations of surveys agree better

/** @param {import('./aids.js').Aids} aids */
export async function draw(aids) {
  const panel = await aids.sky()
  const { bands, catalogues, curves, finder, names, note, numbers, point } = panel
  if (!catalogues.length) return { element: h('div.sky-pane', nothing(note, aids.subject)) }
  const failed = catalogues.filter(({ status }) => status === 'failed').map(({ title }) => title)
  const figures = [
    ...(point ? [planeFigure(panel)] : []),
    ...(finder ? [finderFigure(finder)] : []),
    ...(curves.length ? [lightCurve(curves, aids, () => drawn.paint())] : []),
  ]
  const plots = figures.map(({ root }) => root)
  const cited = [...panel.loci, ...catalogues.map(({ title, citation }) => ({ name: title, citation }))]
  const citations = cited.map(({ name, citation }) => citation && t('{name}: {citation}', { name, citation }))
  const element = h(
    'div.sky-pane',
    h('p.summary', sentences(panel.simulated && t('Simulated, not observed.'), note)),
    failed.length > 0 &&
      h('p.look', t('Failed: {names}. The list of catalogues below says why.', { names: withCommas(failed) })),
    h('div.figures', plots),
    bands.length > 0 && fluxes(panel, aids),
    part(t('Numbers'), h('table', { 'aria-label': t('Numbers') }, numbers.map(numberRow))),
    panel.names_hidden && h('p.summary', t('Names and types are shown after your own verdict.')),
    names.length > 0 && part(t('Names'), h('ul', names.map(nameEntry))),
    part(t('Catalogues'), h('ul', catalogues.map(answer))),
    about(t('What is plotted'), ABOUT, ...citations),
  )
  const drawn = withPlots(aids, element, figures)
  return drawn
}

/** Why there is nothing to show; commands are in backticks. @param {string} note */
function nothing(note, subject) {
  const { hidden, spectrum } = subject
  const pieces = note.split('`').map((piece, at) => (at % 2 ? h('code.command', piece) : piece))
  const nowhere = t('This spectrum has no position, so no catalogue can be queried about it.')
  return [h('p', pieces), !hidden && !spectrum.position && h('p.look', nowhere)]
}

/** A titled part of the pane. @param {string} title @param {import('../common/dom.js').Child[]} content */
const part = (title, ...content) => h('section', { 'aria-label': title }, h('strong', title), content)

/** A plot with its title, what it shows in words, and its symbols. */
function figureOf(title, words, signs, ...more) {
  const host = h('div.locus', { role: 'img', 'aria-label': `${title}: ${words}` })
  const key = h(
    'ul.key',
    { 'aria-label': t('Symbols') },
    signs.map((sign) => sign && h('li', sign)),
  )
  return { host, root: h('figure', h('figcaption', title, h('span.muted', words)), host, key, more) }
}

const sign = (character, props = {}) => h('span', { 'aria-hidden': 'true', ...props }, character)

/** @param {SkyPanel} panel */
function planeFigure(panel) {
  const point = /** @type {PlanePoint} */ (panel.point)
  const { bp_rp: colour, absolute_magnitude: value, limit, reason } = point
  const own = sign(colour === null || (value ?? limit) === null ? '╌' : '★', { className: 'own' })
  const signs = [[own, t('this object')], value === null && limit !== null && t('arrow: as bright as this or brighter')]
  const words = [positionText(point), reason].filter(Boolean).join(' · ')
  const figure = (colours) => plane({ loci: panel.loci, point }, colours)
  return { ...figureOf(t('Colour and luminosity'), words, signs), figure }
}

/** @param {Finder} finder */
function finderFigure(finder) {
  const { fibre, stars, text } = finder
  const distance = ({ east, north }) => Math.hypot(east, north)
  const rows = stars
    .toSorted((a, b) => distance(a) - distance(b))
    .map((source) => h('li', sourceFacts(source).join(' · ')))
  const ring = sign('○', { className: 'fibre' })
  const signs = [
    stars.some(({ matched }) => matched) && [sign('★', { className: 'own' }), t('this object')],
    fibre === null ? t('diameter of the fibre not known') : [ring, t('fibre {size}″', { size: fibre })],
    ...[t('size: G magnitude'), t('arrow: proper motion in 20 years')],
  ]
  const title = tn('{n} source of Gaia', '{n} sources of Gaia', rows.length)
  const list = h('details.about', h('summary', title), h('ul', rows))
  return { ...figureOf(t('Finder'), text, signs, list), figure: (colour, width) => chart(finder, colour, width) }
}

/** The light curve, which is folded on request. @param {Curve[]} curves @param {() => void} paint */
function lightCurve(curves, aids, paint) {
  const [{ band }] = curves.toSorted((a, b) => b.mjd.length - a.mjd.length)
  /** @type {number | null} */
  let period = null
  const label = t('Period (days)')
  const names = { placeholder: label, 'aria-label': label }
  const field = h('input', { inputMode: 'decimal', autocomplete: 'off', ...names })
  const status = h('p.summary', { role: 'status' })
  const foldAt = (/** @type {number | null} */ days) => {
    period = days
    unfold.disabled = days === null
    paint()
  }
  const onSubmit = (event) => {
    event.preventDefault()
    const days = parseNumber(field.value)
    field.setAttribute('aria-invalid', String(!(days > 0)))
    if (days > 0) foldAt(days)
    else fill(status, t('A period is a number of days above 0, e.g. 0.0785.'))
  }
  const suggest = async () => {
    const { period: days, false_alarm: chance, reason } = await aids.period(band)
    if (days !== null) field.value = days.toPrecision(7)
    const values = { band, chance: significant(chance, 2) }
    const words = t('Strongest period of {band}; false-alarm probability {chance}.', values)
    fill(status, sentences(days !== null && words, reason))
  }
  const button = (text, props) => h('button.so-small', props, text)
  const unfold = button(t('Unfold'), { disabled: true, onClick: () => foldAt(null) })
  const onClick = () => suggest().catch((error) => aids.notices.error(error))
  const buttons = [button(t('Fold'), { type: 'submit' }), unfold, button(t('Suggest period'), { onClick })]
  const signs = curves.map((curve, at) => {
    const which = at % CURVE_SIGNS.length
    return [
      sign(CURVE_SIGNS[which], { style: `color: var(--so-exposure-${which})` }),
      `${curve.band} (${curve.mjd.length})`,
    ]
  })
  const words = tn('{n} point', '{n} points', curves.flatMap(({ mjd }) => mjd).length)
  const parts = figureOf(t('Light curve'), words, signs, h('form', { onSubmit }, field, buttons), status)
  return { ...parts, figure: (colour) => brightness(curves, period, colour) }
}

/** The magnitudes of catalogues next to those of the spectrum, and the button that draws their fluxes on the plot. */
function fluxes(panel, aids) {
  const press = () => button.setAttribute('aria-pressed', String(aids.draws('sed')))
  const button = h('button.so-small', { onClick: () => aids.drawSky(panel).then(press) }, t('Draw on the spectrum'))
  press()
  const names = [t('band'), t('catalogue'), t('spectrum'), t('difference')]
  const head = names.map((name, at) => h(`th${at ? '.number' : ''}`, { scope: 'col' }, name))
  const table = h(
    'table',
    { 'aria-label': t('Fluxes') },
    h('thead', h('tr', head)),
    h('tbody', panel.bands.map(bandRow)),
  )
  return part(t('Fluxes'), panel.sed_scale !== null && button, table, h('p.summary', panel.sed_note))
}

/** @param {Band} band */
function bandRow({ name, catalogue, magnitude, magnitude_error: error, synthetic, difference, reason }) {
  const far = difference !== null && Math.abs(difference) > FAR
  const differs = difference === null ? '–' : number(difference, 2, { sign: true })
  return h(
    'tr',
    h('th', { scope: 'row' }, name, ' ', h('span.muted', catalogue)),
    h('td.number', plusMinus({ value: magnitude, error })),
    synthetic === null ? h('td.reason', { colSpan: 2 }, reason) : h('td.number', number(synthetic, 2)),
    synthetic !== null && h(`td.number${far ? '.look' : ''}`, { title: reason }, far ? `${differs} !` : differs),
  )
}

/** @param {SkyNumber} quantity */
const numberRow = ({ label, unit, value, error, reason }) =>
  h(
    'tr',
    h('th', { scope: 'row' }, label),
    value === null ? h('td.reason', reason) : h('td.number', plusMinus({ value, error, unit })),
  )

/** @param {NameOf} name */
function nameEntry({ catalogue, id, separation, texts }) {
  const facts = Object.entries(texts).map(([key, text]) => t('{key}: {text}', { key, text }))
  const where = t('{catalogue}, at {separation}″', { catalogue, separation: number(separation, 1) })
  return h('li', h('strong', id), ' ', withCommas([...facts, where]))
}

/** What a catalogue answered: its status is a sentence. @param {CatalogueAnswer} record */
function answer({ title, status, detail, sources, separation, queried_at: queried, service, simulated }) {
  const at = { separation: number(separation ?? NaN, 2) }
  const words = {
    found: tn('found, {n} source at {separation}″', 'found, {n} sources, the nearest at {separation}″', sources, at),
    'not found': t('not found: no source near the position'),
    'not asked': t('not asked: {detail}', { detail }),
    failed: t('failed: {detail}', { detail }),
  }[status]
  const facts = [words, simulated && t('simulated'), queried && dateAndTime(queried)].filter(Boolean).join(' · ')
  return h(
    'li',
    { title: service },
    h('strong', title),
    ' ',
    h(`span.${status === 'failed' ? 'look' : 'muted'}`, facts),
  )
}

const ABOUT = t(
  'Lines and shaded regions: where known kinds of stars lie; hover over one for its name and source. M_G has no ' +
    'correction for dust; the arrow shows what dust does to a star. The difference of fluxes is spectrum minus ' +
    'catalogue in mag; more than 0.2 is marked with “!”. Drag to zoom; a double click shows all.',
)
