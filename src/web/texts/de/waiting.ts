/** The waiting room and the proof of its draw in German. */
import type { Texts } from '../en/pages.ts';
import { wordingOf } from '../locale/wording.ts';

const { count, number, plural } = wordingOf('de');
const PEOPLE = { one: 'Person', other: 'Personen' };

export const queue: Texts['queue'] = {
  title: 'Warteraum',
  titleOf: (place) => `Nr. ${number(place)} in der Schlange`,
  loading: 'Der Warteraum wird geöffnet …',
  finding: 'Ihr Platz wird gesucht …',
  tryAgain: 'Noch einmal versuchen',
  leave: 'Schlange verlassen',
  leaveQuestion: (place) =>
    place === null
      ? 'Schlange verlassen?'
      : `Schlange verlassen? Ihr Platz, Nr. ${number(place)}, wird endgültig aufgegeben.`,
  stay: 'In der Schlange bleiben',
  wayGone: 'Der Weg, bis Sie an der Reihe sind',
  notify: 'Benachrichtigen, wenn ich an der Reihe bin',
  willNotify: 'Eine Benachrichtigung sagt Ihnen, wenn Sie an der Reihe sind.',
  fair: 'Die Reihenfolge wird ausgelost, wenn der Warteraum öffnet. Jeder kann die Auslosung prüfen: [Beweis der Auslosung].',
  yourTurn: 'Sie sind an der Reihe.',
  rejoining: 'Ihr Platz wurde aufgegeben. Sie stellen sich gerade neu an …',
  inTime: 'Sie sind rechtzeitig da',
  opensIn: 'Der Warteraum öffnet in',
  early: (when) =>
    `${when}. Alle, die dann hier sind, werden ausgelost: Es spielt keine Rolle, wann Sie gekommen sind. Lassen Sie diese Seite offen.`,
  yourPlace: 'Ihr Platz in der Schlange',
  ahead: (people) => `, vor Ihnen ${plural(people, { one: 'ist', other: 'sind' })} ${count(people, PEOPLE)}.`,
  next: ', Sie sind als Nächstes dran.',
  pace: (people) =>
    `Pro Minute ${plural(people, { one: 'wird', other: 'werden' })} ${count(people, PEOPLE)} eingelassen. Diese Seite führt Sie von selbst weiter, wenn Sie an der Reihe sind; lassen Sie sie offen. Wer zu lange weg ist, verliert seinen Platz.`,
  lessThanMinute: 'Weniger als eine Minute',
  minutes: (n) => `Noch etwa ${number(n)} Minuten`,
  hours: (n) => `Noch etwa ${number(n)} Stunden`,
  chooseNow: 'Wählen und reservieren Sie jetzt Ihre Tickets.',
  turnLasts: 'Ihre Zeit läuft noch',
  hasRoom: 'Diese Veranstaltung hat einen Warteraum.',
  opensOn: (when) => `Er öffnet am ${when}; wer bis dahin da ist, wird fair ausgelost.`,
  steady: 'Alle werden der Reihe nach und gleichmäßig eingelassen.',
  backToPlace: 'Zurück zu meinem Platz',
};

export const draw: Texts['draw'] = {
  title: 'Beweis der Auslosung',
  titleOf: (event) => `Beweis der Auslosung, ${event}`,
  loading: 'Der Beweis wird geladen …',
  lead: 'Alle, die beim Öffnen im Warteraum sind, kommen in eine zufällige Reihenfolge. Das eine Geheimnis dahinter steht fest, bevor jemand kommt: Niemand kann es austauschen. Das andere entsteht erst beim Öffnen: Niemand kann es vorhersehen.',
  promised: 'Vor dem Öffnen zugesagt',
  secret: 'Geheimnis, danach gezeigt',
  shownLater: 'wird beim Öffnen gezeigt',
  atOpening: 'Beim Öffnen entstanden',
  noOpening: 'nichts: eine ältere Auslosung',
  inDraw: 'In der Auslosung',
  everybody: 'alle, die beim Öffnen da sind',
  drawnOn: (people, when) => `${count(people, PEOPLE)}, ausgelost am ${when}`,
  pending: 'Die Auslosung hat noch nicht stattgefunden.',
  whole: 'Der ganze Beweis, und wie man ihn anderswo prüft',
  tooLong: 'Diese Auslosung ist zu lang, um sie in einem Browser zu prüfen.',
  check: 'In meinem Browser prüfen',
  checking: 'Wird geprüft …',
  commitmentHolds: 'Das Geheimnis ist das zugesagte.',
  digestHolds: 'Die Liste ist die, aus der gelost wurde.',
  orderHolds: 'Alle stehen dort, wohin die Geheimnisse sie stellen.',
  yourNumber: (place) => `Sie wurden als Nummer ${number(place)} gezogen.`,
  fails: 'Das stimmt nicht.',
};
