/** The texts of the page of stations in English. Its shape is that of every language. */
import { wordingOf } from '../locale/wording.ts';

const { count } = wordingOf('en');

export const door = {
  pairing: {
    title: 'Pair this station',
    lead: 'Scan the pairing code of the console with this device’s camera app, or type its token.',
    token: 'Token',
    pair: 'Pair',
    unknown: 'The service knows no such token.',
    revokedTitle: 'This station was revoked',
    revoked: 'It scans no more. Pair it anew to go on.',
    waitingKept: (n: number) =>
      `${count(n, { one: 'scan waits', other: 'scans wait' })}. Nothing is lost: once the station is paired anew they are sent.`,
    anew: 'Pair anew',
    anewAsk: (n: number) =>
      `${count(n, { one: 'scan waits', other: 'scans wait' })}. They are sent with the new pairing. Pair anew all the same?`,
    leave: 'Leave as it is',
  },
  choice: {
    title: 'Where does this station stand?',
    date: 'Date',
    door: 'Door',
    scan: 'Begin to scan',
    loading: 'Loading dates and doors …',
    none: 'The event has no date or door for this station.',
    change: 'Change',
  },
  status: {
    label: 'State of the station',
    online: 'Online',
    offline: 'Offline',
    synced: 'Last sync',
    never: 'never',
    seconds: (n: number) => `${n} s ago`,
    minutes: (n: number) => `${n} min ago`,
    hours: (n: number) => `${n} h ago`,
    waiting: 'Waiting',
    inside: 'Inside',
    notReady: 'Not ready to work offline yet: the first sync is not complete.',
    notSecure:
      'Camera and offline work need https. Here keyboard scanners and typed codes work, as long as the service answers.',
  },
  scanning: {
    direction: 'Direction',
    entry: 'Entry',
    exit: 'Exit',
    startCamera: 'Start camera',
    camera: 'Picture of the camera',
    noCamera: 'The camera cannot be used. Allow it in the browser’s settings, or use a keyboard scanner.',
    noDecoder:
      'The program that reads codes from the camera’s picture could not be loaded. Start the camera again where there is a network; typed codes and keyboard scanners work.',
    code: 'Code',
    check: 'Check',
    checking: 'Checking …',
    repeated: 'This code was read a moment ago.',
    last: 'Last scan',
    undo: 'Take back',
    notStored: 'This device could not store the scan, so it was not sent. Free some space, then load the page again.',
  },
  verdict: {
    next: 'Next',
    own: 'Decided by this station, without the service',
    cannotTell: 'This station does not know enough to let the ticket in. Have it looked up by hand.',
    since: (when: string, where: string) => `Since ${when}, ${where}`,
    ofDate: (name: string, when: string) => `Ticket for ${name} ${when}`,
    doors: (names: string) => `Go to: ${names}`,
    opens: (when: string) => `Doors open ${when}`,
    words: {
      ADMIT: 'Admit',
      EXIT: 'Out',
      UNDONE: 'Taken back',
      ALREADY_ADMITTED: 'Already inside',
      NOT_INSIDE: 'Not inside',
      VOID: 'Void',
      WRONG_EVENT: 'Wrong event',
      WRONG_PERFORMANCE: 'Wrong date',
      WRONG_DOOR: 'Wrong door',
      NOT_YET: 'Not yet',
      OVER: 'Over',
      FORGED: 'Forged',
      UNKNOWN: 'No ticket',
      NOT_UNDOABLE: 'Cannot be taken back',
      ID_REUSED: 'Scan again',
      CANNOT_TELL: 'Cannot tell',
    },
  },
  more: {
    title: 'More',
    refused: (n: number) => count(n, { one: 'refused scan', other: 'refused scans' }),
    refusedWhy: 'The service did not take these scans. Save them for the operators.',
    save: 'Save as a file',
    doubles: (n: number) => count(n, { one: 'ticket was let in twice', other: 'tickets were let in twice' }),
    conflicts: (n: number) =>
      count(n, { one: 'scan does not agree with the service', other: 'scans do not agree with the service' }),
    conflictsWhy: 'This station let them through; this is what the service says of each:',
    also: (when: string, where: string) => `Also let in ${when}, ${where}`,
    seen: 'Seen',
    unpair: 'Unpair',
    unpairAsk: (n: number) =>
      `${count(n, { one: 'scan waits', other: 'scans wait' })} and will be sent only once this station is paired anew. Unpair all the same?`,
    unpairSure: 'Unpair this station? It will need a new pairing code.',
    language: 'Language',
    newerAsk: (n: number) =>
      `A newer version of this page is ready. It waits until ${count(n, { one: 'scan is', other: 'scans are' })} sent.`,
    update: 'Update now',
  },
  page: {
    title: 'Doors',
    elsewhere: 'This station is open in another window. Close that one to go on here.',
    noStore: 'This browser stores nothing for this page, as in a private window, so it cannot scan.',
  },
};

export type DoorTexts = typeof door;
