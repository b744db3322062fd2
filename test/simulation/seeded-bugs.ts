/**
 * The list of seeded bugs: plausible defects, each one replacement of text in a source file.
 *
 * `run-seeded-bugs.ts` puts them one at a time into a copy of the tree and reports which test catches each of them.
 * `seeded-bugs.test.ts` checks that every text still occurs exactly once, so that a changed source file is noticed at
 * once.
 */
export interface SeededBug {
  readonly name: string;
  readonly file: string;
  /** A text that occurs exactly once in the file. */
  readonly find: string;
  /** The text that replaces it. */
  readonly put: string;
  /** The options of the simulation that looks first; sales where absent. */
  readonly simulation?: readonly string[];
  /** Test files that must catch the bug when the simulation does not. */
  readonly tests: readonly string[];
}

export const bug = (name: string, file: string, find: string, put: string, ...tests: string[]): SeededBug => ({
  name,
  file,
  find,
  put,
  tests,
});

export const SEEDED_BUGS: readonly SeededBug[] = [
  bug(
    'the gate is removed',
    'src/actors/event-facts.ts',
    'if (seq <= this.#journal.durableSeq) return given(answer);',
    'if (seq >= 0) return given(answer);',
  ),
  bug(
    'snapshots run at once, and outcomes go to the first that waits',
    'src/engine/snapshotter.ts',
    `  const sendNext = (): void => {
    if (underWay !== null) return;
    underWay = waiting.shift() ?? null;
    if (underWay === null) return;
    thread ??= startOne();
    const { jobId, job } = underWay;
    if (job.given === undefined) thread.post({ jobId, job, baseSeq: baseSeq() });
    else void sendGiven(thread, { jobId, job, baseSeq: baseSeq() }, job.given);
  };
  const sendGiven = async (to: SnapshotThread, request: SnapshotRequest, given: GivenFacts): Promise<void> => {
    const { rows } = given;
    const job = { ...request.job, given: { ...given, rows: [] } };
    for (let place = 0; thread === to && underWay?.jobId === request.jobId; place += ROWS_A_MESSAGE) {
      const isPart = place + ROWS_A_MESSAGE < rows.length;
      to.post({ ...request, job, rows: rows.slice(place, place + ROWS_A_MESSAGE), isPart });
      if (!isPart) return;
      await nextRound();
    }
  };
  const settle = ({ jobId, outcome }: SnapshotReply): void => {
    const pending = underWay;
    if (pending?.jobId !== jobId) return;`,
    `  const sent: PendingJob[] = [];
  const sendNext = (): void => {
    const next = waiting.shift();
    if (next === undefined) return;
    sent.push(next);
    thread ??= startOne();
    const { jobId, job } = next;
    if (job.given === undefined) thread.post({ jobId, job, baseSeq: baseSeq() });
    else void sendGiven(thread, { jobId, job, baseSeq: baseSeq() }, job.given);
  };
  const sendGiven = async (to: SnapshotThread, request: SnapshotRequest, given: GivenFacts): Promise<void> => {
    const { rows } = given;
    const job = { ...request.job, given: { ...given, rows: [] } };
    for (let place = 0; thread === to; place += ROWS_A_MESSAGE) {
      const isPart = place + ROWS_A_MESSAGE < rows.length;
      to.post({ ...request, job, rows: rows.slice(place, place + ROWS_A_MESSAGE), isPart });
      if (!isPart) return;
      await nextRound();
    }
  };
  const settle = ({ outcome }: SnapshotReply): void => {
    const pending = sent.shift();
    if (pending === undefined) return;`,
    'test/engine/snapshotter.test.ts',
  ),
  bug(
    'time follows the clock of the machine',
    'src/actors/clock.ts',
    '    base += passedMs;',
    '    base = Math.max(base, source.wallMs());',
    'test/actors/clock.test.ts',
  ),
  bug(
    'what expired while the disk was full reads as before',
    'src/actors/due-work.ts',
    '      else this.#settleForReading(now);',
    '',
    'test/faults/disk-full.test.ts',
  ),
  bug(
    'what was settled for reading is kept',
    'src/actors/actor-pool.ts',
    '      actor.retire(({ orders }) => {\n        if (!orders.refunds.isEmpty) this.#unfinished.add(actor.eventId);\n      });\n    }\n    this.#actors.clear();',
    '    }',
    'test/faults/disk-full.test.ts',
  ),
  bug(
    'settling stops a millisecond early',
    'src/actors/due-work.ts',
    'if (known === null || known.at > now) return null;',
    'if (known === null || known.at >= now) return null;',
    'test/actors/event-actor.test.ts',
  ),
  bug(
    'a hold expires a millisecond late',
    'src/domain/holds/decide.ts',
    "const due = hold !== undefined && hold.status === 'ACTIVE' && hold.expiresAt <= now",
    "const due = hold !== undefined && hold.status === 'ACTIVE' && hold.expiresAt < now",
  ),
  bug(
    'a replaced hold is not freed',
    'src/domain/holds/evolve.ts',
    "if (replaced !== undefined) endHold(state, replaced, 'REPLACE', at);",
    'if (replaced !== undefined) holds.activeBySession.delete(data.sessionKey);',
  ),
  bug(
    'a replaced hold conflicts with itself',
    'src/domain/holds/decide.ts',
    'reserveLines(state, command.items, replaced, now)',
    'reserveLines(state, command.items, null, now)',
  ),
  bug(
    'a change leaves the window',
    'src/domain/holds/decide.ts',
    'const expiresAt = windowEnd(state, hold.firstPlacedAt, hold.expiresAt, now);',
    'const { expiresAt } = hold;',
  ),
  bug(
    'a replacement restarts the ceiling',
    'src/domain/holds/decide.ts',
    'const firstPlacedAt = replaced?.firstPlacedAt ?? now;',
    'const firstPlacedAt = now;',
  ),
  bug(
    'a ceiling that was lowered takes time away',
    'src/domain/holds/decide.ts',
    'Math.max(firstPlacedAt + holdLifeMaxMs, endSoFar)',
    'firstPlacedAt + holdLifeMaxMs',
    'test/domain/scenarios.test.ts',
  ),
  bug(
    'a hold beyond the limits is placed',
    'src/domain/holds/new-lines.ts',
    'return plan.limitsAtHold ? checkCartLimits(plan, requested) : checkCartSize(requested);',
    'return null;',
  ),
  bug(
    'accessible types take any seat',
    'src/domain/catalogue/sale-plan.ts',
    'return zones[zone] === 1 && mayTake ? 1 : 0;',
    'return zones[zone] === 1 ? 1 : 0;',
  ),
  bug(
    'companions sit anywhere',
    'src/domain/inventory/assignment.ts',
    'return hasCompanions ? first : -1;',
    'return hasCompanions && first < 0 ? first : -1;',
  ),
  bug(
    'tickets that were given up are to return',
    'src/domain/inventory/release-times.ts',
    ' && (hold.pools?.has(pool) ?? this.#haveTicketsOf(hold.lines, pool));',
    ';',
    'test/domain/scenarios.test.ts',
  ),
  bug(
    'reserved leaves out performances that are over',
    'src/domain/event/public-view.ts',
    'reserved: sumOf(performances,',
    'reserved: sumOf(onSale,',
    'test/domain/scenarios.test.ts',
  ),
  bug(
    'a performance that is over sells',
    'src/domain/event/public-view.ts',
    'const onSale = open && canBeBought(',
    'const onSale = canBeBought(',
  ),
  bug(
    'a change does not give back',
    'src/domain/holds/evolve.ts',
    '  changeEachLine(state, hold, (performance, line) => performance.inventory.giveBack(line));\n  // At the ceiling',
    '  // At the ceiling',
  ),
  bug(
    'a hold is found with any key',
    'src/domain/holds/state.ts',
    'hold === undefined || (sessionKey !== null && hold.sessionKey !== sessionKey)',
    'hold === undefined',
  ),
  bug(
    'a snapshot loses the ACTIVE hold',
    'src/domain/holds/snapshot.ts',
    '    state.holds.activeBySession.set(hold.sessionKey, hold);\n',
    '',
  ),
  bug(
    'uses of a code do not return',
    'src/domain/orders/evolve.ts',
    "  closePayments(order, 'EXPIRE');\n  countOrder(state, order, -1);",
    "  closePayments(order, 'EXPIRE');",
  ),
  bug(
    'a changed hold gets the group size of today',
    'src/domain/holds/changed-lines.ts',
    'item.quantity * (line.ticketCount / line.quantity)',
    'item.quantity * offer.ticketType.groupSize',
    'test/domain/scenarios.test.ts',
  ),
  bug(
    'uses of a code are counted as it was typed',
    'src/domain/orders/pricing.ts',
    'if (promoCode !== null) keys.add(codeKey(promoCode));',
    'if (promoCode !== null) keys.add(promoCode.toLowerCase());',
  ),
  bug('a code is used once too often', 'src/domain/orders/pricing.ts', '?? 0) < maxUses', '?? 0) <= maxUses'),
  bug(
    'a code is good in its last moment',
    'src/domain/orders/pricing.ts',
    '(endsAt === null || now < endsAt)',
    '(endsAt === null || now <= endsAt)',
    'test/domain/scenarios.test.ts',
    'test/domain/orders/pricing.test.ts',
  ),
  bug(
    'tags make another buyer',
    'src/domain/email-key.ts',
    'return isTagged ?',
    'return isTagged && folded.length < 0 ?',
  ),
  bug(
    'the cap of an address is off by one',
    'src/domain/orders/purchase-limits.ts',
    'already + requested > limit ?',
    'already + requested > limit + 1 ?',
  ),
  bug('a webhook counts twice', 'src/domain/orders/payments.ts', 'if (isRepeat(order, payment, money)) return [];', ''),
  bug(
    'late money always brings an order back',
    'src/domain/orders/payments.ts',
    'return isAllowed && canBeHadAgain(state, order, turn) ? trigger : null;',
    'return isAllowed ? trigger : null;',
  ),
  bug(
    'money revives what an operator cancelled',
    'src/domain/orders/payments.ts',
    "cancellation.cause !== 'BUYER' || cancellation.amendmentId !== undefined",
    'cancellation.amendmentId !== undefined',
  ),
  bug(
    'wrong money is taken as asked',
    'src/domain/orders/payments.ts',
    'const isAsked = payment.amountCents === amountCents && payment.currency === currency;',
    'const isAsked = payment.currency === currency;',
  ),
  bug(
    'refunds are not bounded',
    'src/domain/orders/refunds.ts',
    'if (twin === undefined && amountCents > limit)',
    'if (twin === undefined && amountCents > limit + 1_000)',
  ),
  bug(
    'a pass outlives its time',
    'src/domain/waiting-room/decide.ts',
    "entry?.status === 'ADMITTED' && now < entry.pass!.expiresAt",
    "entry?.status === 'ADMITTED'",
    'test/domain/waiting-room.test.ts',
  ),
  bug(
    'a pass serves any session',
    'src/domain/waiting-room/decide.ts',
    'spentWithoutKey !== true : entry?.sessionKey === sessionKey;',
    'spentWithoutKey !== true : true;',
  ),
  bug(
    'the rate is overshot',
    'src/domain/waiting-room/admission.ts',
    'admissionRate(state) - admittedLately(admissions, now)',
    'admissionRate(state) + 1 - admittedLately(admissions, now)',
  ),
  bug(
    'stale entries are admitted',
    'src/domain/waiting-room/admission.ts',
    '(isStale(state, room, entry, now) ? dropped : admitted)',
    'admitted',
    'test/domain/waiting-room.test.ts',
  ),
  bug(
    'a used key is forgotten',
    'src/domain/idempotency.ts',
    'return record.digest === idempotency.digest ? record',
    'return record.digest === idempotency.digest ? null',
  ),
  bug(
    'a key serves other bodies',
    'src/domain/idempotency.ts',
    "record.digest === idempotency.digest ? record : refuse('IDEMPOTENCY_KEY_REUSED', {})",
    'record',
  ),
  bug(
    'half of a cancelled performance stays sold',
    'src/domain/orders/evolve.ts',
    'if (!isLeftOn(state, id)) state.cancelling.delete(id);',
    'state.cancelling.delete(id);',
  ),
  bug(
    'a cancellation is answered before its orders are cancelled',
    'src/actors/order-turns.ts',
    'return type === this.#work.awaitedBy ? this.#answerWhenDone(durable) : durable;',
    'return durable;',
  ),
  bug(
    'a cancellation that was cut short is not continued',
    'src/domain/event/snapshot.ts',
    ', ...(cancelling && { cancelling }) });',
    ' });',
    'test/domain/orders/payments.test.ts',
  ),
  bug(
    'items of a request are checked alone',
    'src/domain/inventory/assignment.ts',
    '      takeInOverlay(overlay, line);\n      lines[index] = line;',
    '      lines[index] = line;',
  ),
  bug(
    'holds of a cancelled date that were left are not released after a restart',
    'src/domain/holds/snapshot.ts',
    'for (const { performanceId } of hold.lines) noteLeft(state, performanceId);',
    '',
    'test/domain/orders/cancelled-dates.test.ts',
  ),
  bug(
    'stages never close',
    'src/domain/catalogue/sale-plan.ts',
    '(stage.endsAt === null || now < stage.endsAt)',
    '(stage.endsAt === null || now >= 0)',
  ),
  bug(
    'a performance that is over is bought',
    'src/domain/inventory/performance.ts',
    '(definition.endsAt === null || now < definition.endsAt)',
    '(definition.endsAt === null || now >= 0)',
  ),
  bug(
    'a type quota is not kept',
    'src/domain/inventory/stock-overlay.ts',
    'Math.min(places, leftInPoolOfOverlay(overlay, ticketType.pool), leftInPoolOfOverlay(overlay, offer.index))',
    'Math.min(places, leftInPoolOfOverlay(overlay, offer.index))',
  ),
  bug(
    'blocked seats are sold',
    'src/domain/inventory/stock-overlay.ts',
    'else if (state === BLOCKED) check.notSellable.push(seatId);',
    'else if (state === BLOCKED) continue;',
  ),
  bug(
    'an evicted event forgets who was last seen',
    'src/actors/actor-pool.ts',
    'this.#evicted.take(eventId));',
    'null);',
    'test/actors/evicted-events.test.ts',
  ),
  bug('the HTTP layer drops the pass', 'src/http/buyers/holds.ts', 'queuePass: queuePass ?? null,', 'queuePass: null,'),
  bug(
    'the body of a hold lacks its seats',
    'src/http/buyers/holds.ts',
    'seat_ids: item.seatIds as string[],',
    'seat_ids: [],',
  ),
  bug(
    'a key of a checkout is not read',
    'src/http/buyers/checkout/route.ts',
    'readStart(request.body, idempotency)',
    'readStart(request.body, null)',
  ),
  bug(
    'half a unit survives',
    'persistence/memory/journal.ts',
    'rows.findIndex((row) => row.unit > seq)',
    'rows.findIndex((row) => row.seq > seq)',
  ),
  bug(
    'rows before the watermark may be missing',
    'persistence/sqlite/recovery.ts',
    'if (damage !== null) throw damage;',
    '',
    'test/persistence/damage.test.ts',
  ),
  bug(
    'the chain is not checked',
    'persistence/sqlite/chain.ts',
    "!batchHash(head.hash, texts.join('')).equals(hash)",
    'texts.length < 0',
    'test/persistence/damage.test.ts',
  ),
  bug(
    'the part of a batch that fits its page is taken for the whole',
    'persistence/sqlite/shared-page.ts',
    'return read === text.length;',
    'return read > 0;',
    'test/persistence/sqlite/journal.test.ts',
  ),
  bug(
    'the writer probes before the outage is known',
    'persistence/sqlite/writer.ts',
    "this.#post(fault);\n    if (this.#state === 'FULL') this.#closeFiles();",
    "this.#post(fault);\n    if (this.#state === 'FULL') this.#closeFiles();\n    this.#probeLater();",
    'test/persistence/sqlite/writer.test.ts',
  ),
  bug(
    'activation stops where the archive begins',
    'persistence/sqlite/history.ts',
    'while (next > afterSeq) {',
    'while (next > Number.MAX_SAFE_INTEGER) {',
    'test/persistence/sqlite/archive.test.ts',
  ),
  bug(
    'the archive is read unverified',
    'persistence/sqlite/archive.ts',
    'for (const { row } of walkChain(db, head, refuseBreak)) void row;',
    'head.seq = file.toSeq;',
    'test/persistence/sqlite/archive.test.ts',
  ),
  bug(
    'a damaged snapshot counts as the newest',
    'persistence/snapshots.ts',
    'this.#bad.add(path);',
    '',
    'test/engine/archived-events.test.ts',
  ),
  bug(
    'the draw forgets its opening',
    'src/domain/waiting-room/decide.ts',
    'drawOrder({ seed: draw!.seed, opening }, ids, hashing)',
    'drawOrder({ seed: draw!.seed, opening: null }, ids, hashing)',
    'test/domain/draw-steering.test.ts',
  ),
  bug(
    'operators are shown the seed of a coming draw',
    'src/privacy/shown-fields.ts',
    'drawSeed: HIDDEN',
    'drawSeed: SHOWN',
    'test/engine/shown-facts.test.ts',
    'test/fuzz/surface.test.ts',
  ),
  bug(
    'money: a report of the other provider counts',
    'src/domain/orders/payments.ts',
    'order === undefined || providerOf(order) !== provider',
    'order === undefined',
    'test/domain/orders/payments.test.ts',
  ),
  bug(
    'money: a reference counts twice',
    'src/domain/orders/refunds.ts',
    ' || isKnown(order, command)) return [];',
    ') return [];',
    'test/domain/orders/payments.test.ts',
  ),
  bug(
    'money: a note and a report are two refunds',
    'src/domain/orders/refunds.ts',
    'const twin = twinOf(order, command, currency);',
    'const twin = undefined;',
    'test/domain/orders/payments.test.ts',
  ),
  bug(
    'money: a refund whose key is in use is asked for under a new key',
    'src/payments/stripe-refunds.ts',
    ' && error.statusCode === ENDED_BY_ERROR)',
    ')',
    'test/payments/stripe-refunds.test.ts',
  ),
  bug(
    'money: dollars are added to euros',
    'src/domain/orders/order.ts',
    "status === 'PAID' && currency === purchase.currency ? amountCents : 0,",
    "status === 'PAID' && currency !== '' ? amountCents : 0,",
    'test/domain/scenarios.test.ts',
  ),
  bug(
    'money: a changed order keeps more than it costs',
    'src/domain/orders/order.ts',
    'const useful = Math.min(counted, agreedOf(order).totalCents);',
    'const useful = counted;',
    'test/domain/orders/changed-orders.test.ts',
  ),
  bug(
    'orders: a ticket that a change made void is listed again at the end of its order',
    'src/domain/orders/evolve.ts',
    'noteVoidTickets(state.orders.voidTickets, order, order.changed?.voidedTickets.length);',
    'noteVoidTickets(state.orders.voidTickets, order);',
    'test/domain/orders/changed-orders.test.ts',
  ),
  bug(
    'amendments: stock is returned twice',
    'src/domain/holds/evolve.ts',
    'for (const line of beyond(before, lines)) performanceOf',
    'for (const line of [...beyond(before, lines), ...beyond(before, lines)]) performanceOf',
    'test/domain/orders/amendments.test.ts',
  ),
  bug(
    'amendments: a credit is rounded twice, for each code',
    'src/domain/orders/amendments/units.ts',
    'shareOf(discountCents + promoDiscountCents, units, quantity);',
    'shareOf(discountCents, units, quantity) - shareOf(promoDiscountCents, units, quantity);',
    'test/money/sale.test.ts',
  ),
  bug(
    'amendments: a fee is kept twice',
    'src/domain/orders/amendments/settlement.ts',
    'const feesCents = (order.changed?.feesCents ?? 0) + feeCents;',
    'const feesCents = (order.changed?.feesCents ?? 0) + 2 * feeCents;',
    'test/domain/orders/amendments.test.ts',
  ),
  bug(
    'amendments: what was wanted stays held after the end',
    'src/domain/orders/amendments/evolve.ts',
    '  endClaim(state, order.id);',
    "  if (order.id === '') endClaim(state, order.id);",
    'test/domain/orders/pending-amendments.test.ts',
  ),
  bug(
    'amendments: late money is applied over a later change',
    'src/domain/orders/amendments/pending.ts',
    'if (!isAsItWas || pendingAmendment',
    'if (!isAsItWas && pendingAmendment',
    'test/domain/orders/pending-amendments.test.ts',
  ),
  bug(
    'amendments: a quote is honoured after it ran out',
    'src/domain/orders/amendments/quotes.ts',
    'const isGood = turn.now < expiresAt && expiresAt',
    'const isGood = expiresAt',
    'test/domain/orders/amendments.test.ts',
  ),
  bug(
    'amendments: a quote is honoured where what it said would be another',
    'src/domain/orders/amendments/quotes.ts',
    'JSON.stringify([orderId, by, request, quoted])',
    'JSON.stringify([orderId, by, request, quoted.currency])',
    'test/domain/orders/amendments.test.ts',
  ),
  bug(
    'money: late money breaks the allowance of its address',
    'src/domain/orders/payments.ts',
    'checkEmailLimit(plan, agreed.items, buyerKeysOf(agreed, sealing), orders.ticketsByBuyer) === null &&',
    '',
    'test/domain/scenarios.test.ts',
  ),
  bug(
    'money: a pass without its key buys again',
    'src/domain/waiting-room/decide.ts',
    'sessionKey === null ? entry?.pass?.spentWithoutKey !== true : entry?.sessionKey === sessionKey;',
    'sessionKey === null || entry?.sessionKey === sessionKey;',
    'test/domain/scenarios.test.ts',
  ),
  bug(
    'what ended is forgotten with the next that ends',
    'src/domain/collections/ended-records.ts',
    'return beganAt !== null && beganAt + GENERATION_MS + KEPT_MS <= at;',
    'return beganAt !== null && beganAt < at;',
    'test/domain/holds.test.ts',
  ),
  bug(
    'the holds that ended are a ring of a thousand',
    'src/domain/holds/ended-holds.ts',
    'cut.add(id, sessionKey, { status: status as EndedStatus, times: [expiresAt] }, at);',
    'if (cut.size < 1_000) cut.add(id, sessionKey, { status: status as EndedStatus, times: [expiresAt] }, at);',
    'test/domain/holds.test.ts',
  ),
  bug(
    'a settled order is changed in a copy',
    'src/domain/orders/order-records.ts',
    '    records[place] = opened;\n',
    '',
    'test/domain/scenarios.test.ts',
  ),
  bug(
    'idempotency records are counted, not weighed',
    'src/domain/idempotency.ts',
    'this.size > IDEMPOTENCY_RECORDS_MAX || this.#bytes > IDEMPOTENCY_BYTES_MAX',
    'this.size > IDEMPOTENCY_RECORDS_MAX',
    'test/domain/retained-bytes.test.ts',
  ),
  bug(
    'finished orders are kept as objects',
    'src/domain/orders/evolve.ts',
    '  if (!isSettled(order)) return;\n',
    '  if (order.id !== state.eventId) return;\n',
    'test/domain/retained-bytes.test.ts',
  ),
  bug(
    'a start loads events that are over',
    'src/engine/start-survey.ts',
    'if (dueAt === undefined && !isUnsold)',
    'if (!isUnsold)',
    'test/actors/past-sales.test.ts',
  ),
  bug(
    'the list activates evicted events',
    'src/actors/event-index.ts',
    'if (active === undefined && entry.listing !== undefined)',
    'if (active === undefined && entry.listing === null)',
    'test/actors/past-sales.test.ts',
  ),
  bug(
    'erasing: the keys are not destroyed',
    'src/actors/erasures.ts',
    'return erases(type) ? this.#answerWhenDestroyed(durable) : durable;',
    'return durable;',
  ),
  bug(
    'erasing: keys are destroyed before the fact is durable',
    'src/actors/erasures.ts',
    '    const answer = await durable;\n    await this.#keys.destroy(keyIds);',
    '    await this.#keys.destroy(keyIds);\n    const answer = await durable;',
  ),
  bug(
    'erasing: a key is handed out before it is durable',
    'persistence/key-pool.ts',
    '    await this.#options.store(keys);\n    this.#ready = [...keys, ...this.#ready];',
    '    this.#ready = [...keys, ...this.#ready];\n    await this.#options.store(keys);',
  ),
  bug(
    'erasing: the text of an erased order stays in memory and snapshots',
    'src/domain/orders/evolve.ts',
    'if (personal !== undefined) order.purchase = { ...order.purchase, personal: { ...personal, sealed: null } };',
    '',
  ),
  bug(
    'erasing: an erased order is found by its address',
    'src/domain/orders/view.ts',
    '(isErased(order) || !buyerKeys',
    '(!buyerKeys',
  ),
  bug(
    'erasing: a note is left open',
    'src/domain/orders/erasure.ts',
    'if (note === null || sealing === null) return { operator, note };',
    'if (note === null || sealing !== undefined) return { operator, note };',
  ),
  bug(
    'erasing: the keys of notes are left',
    'src/domain/orders/order.ts',
    'const texts = [purchase.personal?.sealed, ...notes, ...unshownNotes, ...people];',
    'const texts = [purchase.personal?.sealed, ...notes.slice(0, 0), ...unshownNotes, ...people];',
  ),
  bug(
    'erasing: tickets of an erased order no longer count',
    'src/domain/orders/evolve.ts',
    '  order.erasure = { at, operator, cause };',
    '  order.erasure = { at, operator, cause };\n  if (isLiveOrder(order)) countOrder(state, order, -1);',
  ),
  bug(
    'erasing: a crash leaves the keys of an erased order',
    'src/privacy/folder-keys.ts',
    '    await keys.destroy(since.slice(done, done + KEYS_AT_ONCE));',
    '',
  ),
  bug(
    'erasing: what a full disk kept after all keeps its keys',
    'src/privacy/folder-keys.ts',
    "    if (row.type === 'OrderErased') inBackground('keys', destruction.destroy(keyIdsOf(row)));",
    '',
    'test/actors/erasing.test.ts',
  ),
  bug(
    'fronts: an answer leaves before its commit',
    'src/actors/event-actor.ts',
    'this.facts.onceDurable(answer, isOfRoom(command.type, answer), answered, failed);',
    'answered(answer);',
  ),
  bug(
    'fronts: an answer is given to another call',
    'src/domain/collections/slots.ts',
    'const number = this.#free.pop() ?? this.#values.length;',
    'const number = this.size % 2;',
    'test/threads/link.test.ts',
  ),
  bug(
    'fronts: calls after a pass that was cut short are played twice',
    'src/threads/ring.ts',
    '    this.#tail = tail;\n    Atomics.store(',
    '    if (tail === head) this.#tail = tail;\n    Atomics.store(',
    'test/threads/ring.test.ts',
  ),
  bug(
    'fronts: what a dead one had in its ring is played',
    'src/threads/sides.ts',
    'isCut = true;\n      this.#links.delete(link);',
    '',
  ),
  bug(
    'fronts: a pass is lost on the way',
    'src/threads/packed-rush.ts',
    '[eventId, sessionKey, queuePass, idempotency];\n  return',
    '[eventId, sessionKey, null, idempotency];\n  return',
    'test/threads/packed-rush.test.ts',
  ),
];
