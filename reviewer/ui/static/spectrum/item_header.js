// The header of an item: name with its facts, the question, survey, S/N, coordinates, external links.

import { fill, h } from '../common/dom.js'
import { mediumText } from '../common/format.js'
import { sentences, t, word } from '../common/language.js'
import { copyButton, factsSheet, warningNote } from './spectrum_facts.js'

/**
 * One line: what is never cut are the coordinates and the links.
 * @param {HTMLElement} root
 * @param {{item: any, spectrum: any, buttons?: (HTMLElement | null)[], onGuide: () => void,
 *   onMedium?: ((medium: string) => void) | null, toast: (text: string) => void}} shown
 *   `buttons`: further ones, e.g. the one that compares traces; `onMedium`: the person states the medium of the
 *   wavelengths
 */
export function drawHeader(root, { item, spectrum, buttons = [], onGuide, onMedium = null, toast }) {
  const place = spectrum?.position
  const name = h('button.name', { title: item.row.name }, bareName(item.row.name))
  const mayState = spectrum && mediumMayBeSet(spectrum)
  const sheet =
    spectrum &&
    factsSheet(name, spectrum, toast, () => [
      dateOf(spectrum) && [t('observed on'), dateOf(spectrum)],
      place && [t('position'), copyButton(`${place.ra} ${place.dec}`, t('Coordinates (degrees, ICRS)'), toast)],
      spectrum.catalogue_class && [t('class in the catalogue or header'), spectrum.catalogue_class],
      mayState && [t('medium'), mediumOf(spectrum, item.may?.edit === null ? onMedium : null)],
    ])
  const survey = spectrum?.survey || item.row.survey || t('no survey')
  const { title } = item.task
  fill(
    root,
    name,
    sheet,
    h('button.guide', { onClick: onGuide, title: t('{title}: guide', { title }) }, `${shortTitle(title)}?`),
    item.row.simulated && h('span.pill.amber', { title: t('simulated by a program, not observed') }, t('simulated')),
    h('span.facts', item.row.snr === null ? survey : `${survey} · S/N ${item.row.snr.toPrecision(3)}`),
    mayState &&
      spectrum.meta.medium_assumed &&
      h('span.look', { title: t('air or vacuum: the file does not say') }, mediumText(spectrum)),
    warningNote(spectrum, toast),
    spectrum === null &&
      h(
        'span.look.facts',
        t('imported without its spectrum, with the pictures only (spec-o3 import --spectra FOLDER adds it along)'),
      ),
    place && h('span.place', place.text.replace('-', '−')),
    [...(item.simbad ? [{ name: 'SIMBAD', url: item.simbad }] : []), ...(spectrum?.links ?? [])].map((link) =>
      h('a', { href: link.url, target: '_blank', rel: 'noopener noreferrer' }, link.name),
    ),
    h('span.spring'),
    buttons,
  )
}

/** Whether the file does not state the medium. */
const mediumMayBeSet = ({ meta }) => Boolean(meta.medium_assumed || meta.medium_set_by)

/** The medium where the file does not say it. @param {any} spectrum @param {((name: any) => void) | null} onMedium */
function mediumOf(spectrum, onMedium) {
  const { medium_assumed: assumed, medium_set_by: person } = spectrum.meta
  const text = mediumText(spectrum)
  const origin = assumed
    ? t('medium of the wavelengths: the file does not say whether air or vacuum.')
    : person === 'option'
      ? t('medium of the wavelengths: stated when it was drafted.')
      : t('medium of the wavelengths: stated by {person}.', { person })
  const title = sentences(origin, t('Air and vacuum differ by 83 km/s, 1.8 Å at Hα'))
  if (!onMedium) return h(assumed ? 'span.look' : 'span', { title }, text)
  const other = spectrum.medium === 'air' ? 'vacuum' : 'air'
  const onChange = (/** @type {any} */ { target }) => target.value && onMedium(target.value)
  return h(
    'select.medium',
    { title, 'aria-label': t('Medium of the wavelengths'), onChange },
    h('option', { value: '' }, text),
    (assumed ? ['air', 'vacuum'] : [other]).map((value) => h('option', { value }, word(value))),
  )
}

/** The abbreviation of a long title: CV for "Cataclysmic Variable (CV)"; shorter titles are unchanged. */
export const shortTitle = (title) => (title.length > 21 ? (/\(([^)]+)\)$/.exec(title)?.[1] ?? title) : title)

function dateOf(spectrum) {
  const date = spectrum?.meta?.date_obs ?? spectrum?.meta?.['date-obs'] ?? spectrum?.meta?.date
  return typeof date === 'string' ? date.slice(0, 10) : null
}

/** The survey, without the word "simulated" if a mark shows that already. */
export const surveyOf = ({ survey, simulated }) => (simulated ? survey.replace(/^simulated /, '') : survey)

/** The name of a file without its suffix. */
const bareName = (/** @type {string} */ name) => name.replace(/\.(fits|fit|gz|csv|txt|dat|json)+/gi, '')

/** A file name shortened in its middle: its end, which differs most between files of a survey, is always shown. */
export function nameInQueue(name) {
  const bare = bareName(name)
  return h('span.whole', h('span.head', bare.slice(0, -7)), h('span', bare.slice(-7)))
}
