// The header of an item: name, survey, S/N, coordinates to copy, external links, the question, and the state.

import { cap, fill, h } from './dom.js'
import { mediumText } from './format.js'
import { Keys } from './keys.js'
import { sentences, t, word } from './language.js'
import { factsButtons } from './spectrum_facts.js'

/**
 * @param {HTMLElement} root
 * @param {{item: any, spectrum: any, buttons?: (HTMLElement | null)[], facts?: HTMLElement[], onGuide: () => void,
 *   onMedium?: ((medium: string) => void) | null, toast: (text: string) => void}} shown
 *   `buttons`: further ones, e.g. the one that opens the evidence; `facts`: what else the second line ends with;
 *   `onMedium`: the person states the medium of the wavelengths
 */
export function drawHeader(root, { item, spectrum, buttons = [], facts: more = [], onGuide, onMedium = null, toast }) {
  const facts = [
    spectrum?.survey || item.row.survey || t('no survey'),
    dateOf(spectrum),
    item.row.snr === null ? null : `S/N ${item.row.snr.toPrecision(3)}`,
  ].filter(Boolean)
  const place = spectrum?.position
  const { id, more: ids } = spectrum ? factsButtons(spectrum, toast) : { id: null, more: [] }
  fill(
    root,
    h(
      'div.who',
      {},
      h('strong.name', { title: item.row.name }, item.row.name),
      item.row.simulated && h('span.pill.amber', { title: t('simulated by a program, not observed') }, t('simulated')),
      item.row.drafter.kind === 'baseline' &&
        h('span.pill.grey', { title: t('drafted by the rule-based baseline, not by a model') }, item.row.drafter.name),
      item.trajectory?.drafter.settings.prompt_source === 'trained' &&
        h(
          'span.pill.grey',
          {
            title: t('written for the prompt on which the published checkpoints were trained; key {key} shows it', {
              key: Keys.of('guide'),
            }),
          },
          t('prompt as trained'),
        ),
      h('span.spring'),
      buttons,
      h(
        'button.guide',
        { type: 'button', onClick: onGuide, title: item.task.title },
        `${shortTitle(item.task.title)}?`,
        ' ',
        cap(Keys.of('guide')),
        ' ',
        t('guide'),
      ),
    ),
    h(
      'div.facts-line',
      {},
      h(
        'span.facts',
        {},
        facts.map((fact, at) => [at > 0 && ' · ', h('bdi', {}, fact)]),
        id && [' · ', id],
        spectrum?.catalogue_class && [
          ' · ',
          h('span', { title: t('class in the catalogue or header') }, spectrum.catalogue_class),
        ],
        spectrum && mediumMayBeSet(spectrum) && [' · ', mediumOf(spectrum, item.may?.edit === null ? onMedium : null)],
        place && [
          ' · ',
          h(
            'button.link',
            {
              type: 'button',
              title: t('copy'),
              onClick: () =>
                navigator.clipboard
                  ?.writeText(`${place.ra} ${place.dec}`)
                  .then(() => toast(t('Coordinates copied (degrees, ICRS).'))),
            },
            place.text.replace('-', '−'),
          ),
        ],
        (spectrum?.links ?? []).map((link) => [
          ' · ',
          h('a', { href: link.url, target: '_blank', rel: 'noopener noreferrer' }, link.name),
        ]),
        spectrum === null &&
          h(
            'span.look',
            {},
            ' · ',
            t('imported without its spectrum, with the pictures only (spec-o3 import --spectra FOLDER adds it along)'),
          ),
      ),
      ids,
      more,
    ),
  )
}

/** Whether the file does not state the medium. */
const mediumMayBeSet = ({ meta }) => Boolean(meta.medium_assumed || meta.medium_set_by)

/**
 * The medium of the wavelengths where the file does not state it: the person who may edit the item can.
 * @param {any} spectrum @param {((medium: string) => void) | null} onMedium null where the person may not state it
 */
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
  const choices = assumed
    ? [['', text], ...['air', 'vacuum'].map((m) => [m, word(m)])]
    : [
        ['', text],
        [other, word(other)],
      ]
  return h(
    'select.medium',
    {
      title,
      'aria-label': t('Medium of the wavelengths'),
      onChange: (/** @type {Event} */ event) => {
        const { value } = /** @type {HTMLSelectElement} */ (event.target)
        if (value) onMedium(value)
      },
    },
    choices.map(([value, label]) => h('option', { value }, label)),
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

/**
 * A file name that is shortened in its middle; its end, which differs most between files of a survey, is always shown.
 */
export function nameInQueue(name) {
  const bare = name.replace(/\.(fits|fit|gz|csv|txt|dat|json)+/gi, '')
  return h('span.whole', {}, h('span.head', {}, bare.slice(0, -7)), h('span', {}, bare.slice(-7)))
}
