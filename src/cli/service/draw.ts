/**
 * `holdfast draw verify`: checks the published proof of a waiting room's draw, from its address or from a file.
 *
 * Nothing in the proof is trusted: the order of the entries is computed again from seed, opening and entries. Needs no
 * data folder.
 */
import { readFileSync } from 'node:fs';
import { suggestion } from '#domain/schema-problems.ts';
import { createHashing } from '#actors/crypto.ts';
import { findFlaws, HEX_32_BYTES, type DrawProof } from '#domain/waiting-room/draw.ts';
import { CommandFailure, WrongUse, type CliCall, type CliCommand } from '../terminal/command.ts';
import { counted } from '../terminal/output.ts';

/** The largest page of the service. */
const ENTRIES_PER_PAGE = 10_000;

const WITHOUT_OPENING =
  'the draw has no opening: its order comes from the seed and the entries alone, so whoever knew the seed before could foresee it';

/** A page of the proof, with the API's names. */
interface ProofPage {
  readonly event_id: string;
  readonly status: 'pending' | 'drawn';
  readonly draw_commitment: string;
  readonly seed: string;
  /** Missing in pages of earlier versions, whose draws had no opening. */
  readonly opening?: string | null;
  readonly count: number;
  readonly entries_digest: string;
  readonly entries: readonly string[];
}

export const command: CliCommand = {
  usage: 'draw verify URL-OR-FILE [--commitment HEX] [--entry ID]',
  description: [
    'Checks that a waiting room was drawn as promised: that the seed is the one of the commitment, that every entry of the draw is ' +
      'listed once, and that the entries are in the order that seed, opening and entries give.',
    'Reads the proof from its address (/api/events/public/{slug}/draw) or from a file: one page, or a list of pages. ' +
      'The id of an entry is a secret; it is hashed in this process and sent nowhere.',
  ],
  options: [
    { name: 'commitment', value: 'HEX', help: 'the draw_commitment that was published before the draw' },
    { name: 'entry', value: 'ID', help: 'prints the place of this entry in the drawn order' },
  ],
  positionals: { min: 2, max: 2 },
  examples: [
    {
      line: 'holdfast draw verify http://127.0.0.1:8080/api/events/public/late-show/draw',
      does: 'checks the whole draw',
    },
    {
      line: 'holdfast draw verify draw.json --commitment 9f86d0…',
      does: 'checks also that the commitment was not replaced',
    },
  ],
  async run(call) {
    const [what = '', where = ''] = call.positionals;
    if (what !== 'verify') throw new WrongUse(`there is no draw ${what}${suggestion(what, ['verify'])}`);
    const commitment = call.text('commitment');
    if (commitment !== null && !HEX_32_BYTES.test(commitment)) {
      throw new WrongUse(`--commitment is "${commitment}": it must be 64 digits of lower-case hex`);
    }
    const pages = /^https?:\/\//.test(where) ? await fetchPages(call, where) : readPages(where);
    return reportDraw(call, pages, commitment);
  },
};

/** Prints the result; 0 when the draw is as promised, otherwise 1. */
function reportDraw({ output, text }: CliCall, pages: readonly ProofPage[], commitment: string | null): 0 | 1 {
  const [{ event_id: eventId, status, draw_commitment: drawCommitment, count }] = pages as [ProofPage];
  if (status === 'pending') {
    output.text(`${eventId} is not drawn yet; its commitment is ${drawCommitment}`);
    output.json({ ok: false, eventId, status, drawCommitment, flaws: ['not drawn yet'] });
    return 1;
  }
  const hashing = createHashing();
  const proof = joinPages(pages);
  const flaws = [...findFlaws(proof, hashing), ...disagreements(pages)];
  if (commitment !== null && commitment !== drawCommitment) {
    flaws.unshift('the commitment is not the one that was published before the draw');
  }
  const entryId = text('entry');
  const place = entryId === null ? null : proof.entries.indexOf(hashing.sha256(entryId)) + 1;
  output.json({
    ok: flaws.length === 0,
    eventId,
    status,
    drawCommitment,
    count,
    hasOpening: proof.opening !== null,
    flaws,
    ...(place !== null && { place }),
  });
  if (flaws.length === 0) output.text(`${eventId}: the order of ${counted(count, 'entry', 'entries')} is as promised`);
  else output.text(`${eventId}: the draw is not as promised`, ...flaws.map((flaw) => `  ${flaw}`));
  if (proof.opening === null) output.text(WITHOUT_OPENING);
  if (place !== null)
    output.text(place === 0 ? 'the entry took no part in the draw' : `the entry was drawn to place ${place}`);
  return flaws.length === 0 ? 0 : 1;
}

function joinPages(pages: readonly ProofPage[]): DrawProof {
  const [first] = pages as [ProofPage];
  return {
    drawCommitment: first.draw_commitment,
    seed: first.seed,
    opening: first.opening ?? null,
    count: first.count,
    entriesDigest: first.entries_digest,
    entries: pages.flatMap(({ entries }) => entries),
  };
}

/** Whether the pages belong to different draws. */
function disagreements(pages: readonly ProofPage[]): readonly string[] {
  const headOf = ({ entries: _, ...head }: ProofPage): string => JSON.stringify(head);
  const isSame = pages.every((page) => headOf(page) === headOf(pages[0]!));
  return isSame ? [] : ['the pages belong to different draws'];
}

// ── reading the proof ───────────────────────────────────────────────────────────────────────────────────────────────

async function fetchPages({ output }: CliCall, address: string): Promise<readonly ProofPage[]> {
  const pages: ProofPage[] = [];
  let shown = 0;
  for (;;) {
    const page = await fetchPage(address, shown);
    pages.push(page);
    shown += page.entries.length;
    output.progress('entries', shown, page.count);
    if (page.entries.length === 0 || shown >= page.count) return pages;
  }
}

async function fetchPage(address: string, offset: number): Promise<ProofPage> {
  const url = new URL(address);
  url.searchParams.set('offset', String(offset));
  url.searchParams.set('limit', String(ENTRIES_PER_PAGE));
  try {
    const response = await fetch(url, { headers: { accept: 'application/json' } });
    const body = (await response.json()) as { data?: unknown; code?: unknown };
    if (!response.ok) throw new Error(`${response.status} ${String(body.code)}`);
    return checkPage(body.data ?? body);
  } catch (error) {
    const message = `${address} cannot be read: ${(error as Error).message}`;
    throw new CommandFailure(message, 'the address ends with /api/events/public/{slug}/draw', error);
  }
}

function readPages(file: string): readonly ProofPage[] {
  try {
    const content = JSON.parse(readFileSync(file, 'utf8')) as unknown;
    const pages = (Array.isArray(content) ? content : [content]).map((page) =>
      checkPage((page as { data?: unknown } | null)?.data ?? page),
    );
    if (pages.length === 0) throw new Error('it has no page');
    return pages;
  } catch (error) {
    const message = `${file} cannot be read: ${(error as Error).message}`;
    throw new CommandFailure(
      message,
      'the file must have the answer of GET …/draw: one page, or a list of pages',
      error,
    );
  }
}

function checkPage(value: unknown): ProofPage {
  const page = value as ProofPage | null;
  const isProof =
    typeof page?.event_id === 'string' &&
    HEX_32_BYTES.test(page.draw_commitment) &&
    Array.isArray(page.entries) &&
    page.entries.every((entry) => HEX_32_BYTES.test(String(entry)));
  const isWhole =
    page?.status === 'pending' ||
    (Number.isInteger(page?.count) && isHex32(page?.seed) && (page?.opening == null || isHex32(page.opening)));
  if (!isProof || !isWhole) throw new Error('it is no page of a draw');
  return page;
}

function isHex32(value: unknown): boolean {
  return typeof value === 'string' && HEX_32_BYTES.test(value);
}
