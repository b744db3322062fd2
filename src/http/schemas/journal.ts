/** The bodies of the newest facts, for operators. */
import { Type, type Static } from 'typebox';
import { IntegerText, Nullable, Time } from './fields.ts';

const SEQ_MAX = Number.MAX_SAFE_INTEGER;
const FACTS_MAX = 200;

export const JournalQuery = Type.Object({
  limit: Type.Optional(IntegerText({ minimum: 1, maximum: FACTS_MAX })),
  before: Type.Optional(IntegerText({ minimum: 1, maximum: SEQ_MAX })),
  event_id: Type.Optional(Type.String({ minLength: 1, maxLength: 128 })),
  type: Type.Optional(
    Type.String({ maxLength: 64, description: 'The facts of this type alone, such as OrderPlaced.' }),
  ),
  order_id: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 128,
      description: 'The facts that name this order alone: ORDER_NOT_FOUND.',
    }),
  ),
});

const JournalFact = Type.Object({
  seq: Type.Integer({ minimum: 1 }),
  at: Time,
  event_id: Nullable(Type.String()),
  type: Type.String(),
  data: Type.String({ description: 'JSON text; a long one is told by its length.' }),
});

export const JournalPage = Type.Object(
  {
    facts: Type.Array(JournalFact),
    next_before: Nullable(
      Type.Integer({
        description:
          'Ask with it as `before` for what happened earlier. A page of chosen facts may be empty and not the last.',
      }),
    ),
  },
  { $id: 'JournalPage' },
);

export type JournalFactBody = Static<typeof JournalFact>;
