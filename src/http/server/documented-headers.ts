/**
 * The headers of the OpenAPI document: which a request may have and which its answer has, beside those that routes
 * check themselves.
 *
 * They are described here and not in the schemas of the routes, because the framework would check and copy them at each
 * request.
 *
 * 1. Every answer has the headers of `EVERY_ANSWER`; the others are on the answers that `documentHeaders` says.
 */
import { SESSION_KEY_LENGTH_MAX, SESSION_KEY_LENGTH_MIN } from '../protocol/fields.ts';
import { IDEMPOTENCY_KEY_LENGTH_MAX } from '../protocol/request-parts.ts';

interface Parameter {
  readonly name: string;
  readonly in: string;
}

interface DocumentedAnswer {
  readonly description?: string;
  readonly headers?: Readonly<Record<string, object>>;
}

interface DocumentedOperation {
  readonly operationId?: string;
  readonly parameters?: readonly Parameter[];
  readonly responses?: Readonly<Record<string, DocumentedAnswer>>;
}

type Paths = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

const text = (description: string, schema: object = {}) => ({ description, schema: { type: 'string', ...schema } });
const seconds = (description: string) => ({ description, schema: { type: 'integer', minimum: 0 } });

const EVERY_ANSWER = {
  Date: text('The time of the service’s clock. Count down by it, not by the clock of a browser.'),
  'X-Request-Id': text('Names this request in the log; your own `X-Request-Id`, if it sends one.'),
  'X-Api-Version': text('The version of the interface.'),
};

const RETRY_AFTER = {
  'Retry-After': seconds('With 429 and 503: seconds to wait before the same request is sent again.'),
};
const POLL_AFTER = { 'Retry-After': seconds('While WAITING: seconds to wait before the next poll.') };
const REPLAYED = {
  'Idempotent-Replayed': text('`true` where this is the answer to an earlier request with the same key.', {
    enum: ['true'],
  }),
};
const ETAG = { ETag: text('Names this answer; send it as If-None-Match with the next request.') };

const SESSION_KEY = {
  ...text('The key that owns the hold or entry; preferred to the query, because it stays out of logs.', {
    minLength: SESSION_KEY_LENGTH_MIN,
    maxLength: SESSION_KEY_LENGTH_MAX,
  }),
  name: 'X-Session-Key',
};
const IDEMPOTENCY_KEY = {
  ...text(
    'A value of your own for this request. A repeat with it gets the first answer and changes nothing, for 24 hours.',
    {
      minLength: 1,
      maxLength: IDEMPOTENCY_KEY_LENGTH_MAX,
    },
  ),
  name: 'Idempotency-Key',
};
const IF_NONE_MATCH = {
  ...text('The ETag of an earlier answer: 304 without a body if it is still the same.'),
  name: 'If-None-Match',
};
const LAST_EVENT_ID = {
  ...text('The id of the last message: only what was missed is sent. Browsers send it by themselves.'),
  name: 'Last-Event-ID',
};

const CONDITIONAL: ReadonlySet<string> = new Set(['getSeating', 'getOccupancy']);

/** The paths with the headers of requests and answers; `repeatable` are the operations that take an Idempotency-Key. */
export function withHeaders<Documented>(paths: Documented, repeatable: ReadonlySet<string>): Documented {
  const operations = Object.entries((paths ?? {}) as Paths).map(([path, methods]) => [
    path,
    Object.fromEntries(
      Object.entries(methods).map(([method, each]) => [
        method,
        documentHeaders(each as DocumentedOperation, repeatable),
      ]),
    ),
  ]);
  return Object.fromEntries(operations) as Documented;
}

function documentHeaders(operation: DocumentedOperation, repeatable: ReadonlySet<string>): DocumentedOperation {
  const { operationId = '', parameters = [], responses = {} } = operation;
  const takesSessionKey = parameters.some(({ name }) => name === 'session_key');
  const isConditional = CONDITIONAL.has(operationId);
  const taken = [
    ...(takesSessionKey ? [SESSION_KEY] : []),
    ...(repeatable.has(operationId) ? [IDEMPOTENCY_KEY] : []),
    ...(isConditional ? [IF_NONE_MATCH] : []),
    ...(operationId === 'watchDate' ? [LAST_EVENT_ID] : []),
  ].map((header) => ({ ...header, in: 'header', required: false }));
  const answers = Object.entries(responses).map(([status, answer]) => {
    const isError = /^[45]/.test(status);
    const headers = {
      ...EVERY_ANSWER,
      ...(isError && RETRY_AFTER),
      ...(!isError && repeatable.has(operationId) && REPLAYED),
      ...(!isError && isConditional && ETAG),
      ...(!isError && operationId === 'pollQueue' && POLL_AFTER),
      ...answer.headers,
    };
    return [status, { ...answer, headers }];
  });
  return {
    ...operation,
    ...(parameters.length + taken.length > 0 && { parameters: [...parameters, ...taken] }),
    responses: Object.fromEntries(answers) as Record<string, DocumentedAnswer>,
  };
}
