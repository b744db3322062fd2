/** The texts of the page of stations in German. */
import type { DoorTexts } from '../en/door.ts';
import { wordingOf } from '../locale/wording.ts';

const { count } = wordingOf('de');
const WAIT = { one: 'Scan wartet', other: 'Scans warten' };

export const door: DoorTexts = {
  pairing: {
    title: 'Gerät koppeln',
    lead: 'Lesen Sie den Kopplungscode der Konsole mit der Kamera dieses Geräts, oder tippen Sie das Token ein.',
    token: 'Token',
    pair: 'Koppeln',
    unknown: 'Dieses Token ist nicht bekannt.',
    revokedTitle: 'Dieses Gerät wurde gesperrt',
    revoked: 'Es scannt nicht mehr. Koppeln Sie es neu, um weiterzuarbeiten.',
    waitingKept: (n) => `${count(n, WAIT)}. Nichts geht verloren: Nach der neuen Kopplung wird gesendet.`,
    anew: 'Neu koppeln',
    anewAsk: (n) => `${count(n, WAIT)}. Gesendet wird mit der neuen Kopplung. Trotzdem neu koppeln?`,
    leave: 'So lassen',
  },
  choice: {
    title: 'Wo steht dieses Gerät?',
    date: 'Termin',
    door: 'Eingang',
    scan: 'Scannen',
    loading: 'Termine und Eingänge werden geladen …',
    none: 'Die Veranstaltung hat keinen Termin oder Eingang für dieses Gerät.',
    change: 'Ändern',
  },
  status: {
    label: 'Zustand des Geräts',
    online: 'Online',
    offline: 'Offline',
    synced: 'Abgleich',
    never: 'noch nie',
    seconds: (n) => `vor ${n} s`,
    minutes: (n) => `vor ${n} min`,
    hours: (n) => `vor ${n} h`,
    waiting: 'Wartend',
    inside: 'Drinnen',
    notReady: 'Noch nicht bereit für den Betrieb ohne Netz: Der erste Abgleich ist nicht vollständig.',
    notSecure:
      'Kamera und Betrieb ohne Netz brauchen https. Hier gehen Tastaturscanner und getippte Codes, solange der Dienst antwortet.',
  },
  scanning: {
    direction: 'Richtung',
    entry: 'Eintritt',
    exit: 'Austritt',
    startCamera: 'Kamera starten',
    camera: 'Bild der Kamera',
    noCamera:
      'Die Kamera lässt sich nicht verwenden. Erlauben Sie sie in den Einstellungen des Browsers, oder nehmen Sie einen Tastaturscanner.',
    noDecoder:
      'Das Programm, das Codes aus dem Bild der Kamera liest, konnte nicht geladen werden. Starten Sie die Kamera bei bestehendem Netz noch einmal; getippte Codes und Tastaturscanner gehen weiter.',
    code: 'Code',
    check: 'Prüfen',
    checking: 'Wird geprüft …',
    repeated: 'Dieser Code wurde eben erst gelesen.',
    last: 'Letzter Scan',
    undo: 'Zurücknehmen',
    notStored:
      'Das Gerät konnte den Scan nicht speichern, darum wurde er nicht gesendet. Schaffen Sie Platz, und laden Sie die Seite neu.',
  },
  verdict: {
    next: 'Weiter',
    own: 'Von diesem Gerät entschieden, ohne den Dienst',
    cannotTell: 'Das Gerät weiß zu wenig, um das Ticket einzulassen. Lassen Sie es von Hand nachsehen.',
    since: (when, where) => `Seit ${when}, ${where}`,
    ofDate: (name, when) => `Ticket für ${name} ${when}`,
    doors: (names) => `Richtiger Eingang: ${names}`,
    opens: (when) => `Einlass ab ${when}`,
    words: {
      ADMIT: 'Einlassen',
      EXIT: 'Hinaus',
      UNDONE: 'Zurückgenommen',
      ALREADY_ADMITTED: 'Schon drinnen',
      NOT_INSIDE: 'Nicht drinnen',
      VOID: 'Ungültig',
      WRONG_EVENT: 'Falsche Veranstaltung',
      WRONG_PERFORMANCE: 'Falscher Termin',
      WRONG_DOOR: 'Falscher Eingang',
      NOT_YET: 'Noch nicht',
      OVER: 'Vorbei',
      FORGED: 'Gefälscht',
      UNKNOWN: 'Kein Ticket',
      NOT_UNDOABLE: 'Nicht zurücknehmbar',
      ID_REUSED: 'Noch einmal scannen',
      CANNOT_TELL: 'Unklar',
    },
  },
  more: {
    title: 'Mehr',
    refused: (n) => count(n, { one: 'abgelehnter Scan', other: 'abgelehnte Scans' }),
    refusedWhy: 'Der Dienst hat diese Scans nicht angenommen. Speichern Sie sie für den Veranstalter.',
    save: 'Als Datei speichern',
    doubles: (n) => count(n, { one: 'Ticket wurde zweimal eingelassen', other: 'Tickets wurden zweimal eingelassen' }),
    conflicts: (n) =>
      count(n, {
        one: 'Scan stimmt nicht mit dem Dienst überein',
        other: 'Scans stimmen nicht mit dem Dienst überein',
      }),
    conflictsWhy: 'Dieses Gerät hat durchgelassen; so sieht es der Dienst:',
    also: (when, where) => `Auch eingelassen ${when}, ${where}`,
    seen: 'Gesehen',
    unpair: 'Entkoppeln',
    unpairAsk: (n) =>
      `${count(n, WAIT)} und werden erst gesendet, wenn das Gerät neu gekoppelt ist. Trotzdem entkoppeln?`,
    unpairSure: 'Dieses Gerät entkoppeln? Es braucht danach einen neuen Kopplungscode.',
    language: 'Sprache',
    newerAsk: (n) =>
      `Eine neuere Fassung dieser Seite ist bereit. Sie wartet, bis alles gesendet ist: ${count(n, WAIT)}.`,
    update: 'Jetzt aktualisieren',
  },
  page: {
    title: 'Einlass',
    elsewhere: 'Dieses Gerät ist in einem anderen Fenster offen. Schließen Sie jenes, um hier weiterzuarbeiten.',
    noStore:
      'Dieser Browser speichert für diese Seite nichts, wie in einem privaten Fenster. Darum kann sie nicht scannen.',
  },
};
