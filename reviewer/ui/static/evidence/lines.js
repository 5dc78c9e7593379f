// The table of the lines of a class: centroid, velocity, FWHM and equivalent width, at the file's redshift and at zero.

import { h } from '../common/dom.js'
import { copyable, mediumText, plusMinus, redshift } from '../common/format.js'
import { t } from '../common/language.js'
import { restInData } from '../spectrum/frames.js'
import { about } from './aids.js'

const REACH = 0.009 // of the wavelength (2700 km/s), shown on either side of a line

const COLUMNS = [
  [t('centroid'), 'Å', t('Centre of the fitted Gaussian, at rest for the redshift of the row')],
  [t('velocity'), 'km/s', t('Velocity of the centroid against the redshift of the row')],
  ['FWHM', 'km/s', t("Full width at half maximum as seen, the spectrograph's own width included")],
  ['EW', 'Å', t('Equivalent width ∫ (1 − F/C) dλ at rest for the redshift of the row, positive in absorption')],
]

/** @param {import('./aids.js').Aids} aids */
export async function draw(aids) {
  const table = await aids.lines()
  const { rows, velocity, z } = table
  const columns = COLUMNS.map(([name, unit, title]) =>
    h('th.number', { scope: 'col', title }, name, h('span.unit', unit)),
  )
  const head = h('thead', h('tr', h('th', { scope: 'col' }, t('line')), columns))
  const label = { 'aria-label': t('Lines of the class') }
  const lines = rows.map((row) => lineRows(row, z, aids))
  const element = h(
    'div.lines',
    h('p.summary', circumstances(table)),
    velocity && h(`p.summary${velocity.agree ? '' : '.look'}`, velocity.text),
    rows.length ? h('table', label, head, lines) : h('p.muted', t('No line of this class lies within the spectrum.')),
    about(t('How these are measured'), ABOUT),
  )
  return { element }
}

/** @param {any} table */
function circumstances({ z, z_known: known, medium, medium_assumed: assumed }) {
  const where = known ? t('z = {z} from the file', { z: redshift(z) }) : t('z unknown, 0 taken')
  const axis = t('wavelengths in {medium}', { medium: mediumText({ medium, meta: { medium_assumed: assumed } }) })
  return `${where} · ${axis}`
}

/** One or two rows: at the file's redshift, and at zero if that is another one. */
function lineRows(row, z, aids) {
  const both = z !== null && z !== 0 && aids.subject.spectrum.frame !== 'rest'
  const values = { name: row.name, wavelength: row.rest.toFixed(2) }
  const title = t('Show {name}, {wavelength} Å at rest, in the lower plot', values)
  const button = h(`button.line${row.of_task ? '.own' : ''}`, { 'aria-keyshortcuts': 'Control+C', title }, row.name)
  const name = [button, row.sky && h('span.sky', { title: row.sky }, t('sky'))]
  const line = ({ certain, reason, ...measured }, at, kind, label) =>
    h(
      `tr${kind}${certain ? '' : '.uncertain'}`,
      { 'data-z': String(at), title: certain ? null : reason },
      h('th', { scope: 'row' }, label),
      cells({ ...measured, reason }),
    )
  return h(
    'tbody',
    { onclick: (event) => goTo(event, row, aids), onkeydown: (event) => copyRow(event, aids) },
    both ? line(row.at_z, z, '', name) : line(row.at_zero, 0, '', name),
    both && line(row.at_zero, 0, '.zero', 'z = 0'),
  )
}

/** @param {any} measured */
function cells({ centroid, velocity, fwhm, ew, reason }) {
  const value = (measured, unit, options) =>
    measured
      ? h('td.number', { title: t('copy'), 'data-copy': copyable(measured, unit) }, parts(measured, options))
      : h('td.number', { title: reason }, '–')
  if (!centroid && !velocity && !fwhm)
    return [h('td.reason', { colSpan: ew ? 3 : 4 }, reason || t('not measured')), ew && value(ew, 'Å')]
  const row = [value(centroid, 'Å', { group: false }), value(velocity, 'km/s'), value(fwhm, 'km/s'), value(ew, 'Å')]
  const doubt = h('span', { 'aria-label': t('not certain: {reason}', { reason }) }, '?')
  return [row, reason && h('td.doubt', { title: reason }, doubt)]
}

/** A value with its error on a second line. */
function parts(measured, options) {
  const [value, error] = plusMinus({ ...measured, unit: '' }, options).split(' ± ')
  return [value, error && h('span.error', `± ${error}`)]
}

/** Ctrl C on the button of a line copies the numbers of its row. */
function copyRow(event, aids) {
  if (event.key !== 'c' || !(event.ctrlKey || event.metaKey)) return
  const numbers = event.target.closest('tr').querySelectorAll('[data-copy]')
  aids.copy([event.target.textContent, ...Array.from(numbers, (cell) => cell.dataset.copy)].join('\t'))
}

function goTo(event, row, aids) {
  const { copy } = event.target.closest('[data-copy]')?.dataset ?? {}
  if (copy) return aids.copy(copy)
  const { spectrum } = aids.subject
  const z = Number(event.target.closest('tr')?.dataset.z ?? 0)
  const at = restInData(row.rest, spectrum.medium, spectrum, z)
  aids.view().goTo([at * (1 - REACH), at * (1 + REACH)])
}

const ABOUT = t(
  'One Gaussian, with the lines that are blended with it, on a straight continuum; in a star with molecular bands ' +
    'lines other than those of metals stand on a curve that follows the bands. The hints use the same ' +
    'measurement. Equivalent widths are at rest, positive in absorption. “sky”: the line lies on a sky line, a ' +
    'telluric band or an arm join. The mean velocity leaves such lines out.',
)
