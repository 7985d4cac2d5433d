// Webhooks of definitions that hang: what becomes of the conversions of others, and of those that have waited for too long.
import test from 'ava';
import { WebhookConversion } from '../../../actors/admission/conversion/webhook-conversion.ts';
import type { StoreReader } from '../../../actors/admission/stored/store-reader.ts';
import type { CustomType } from '../../../api/custom/definitions/custom-type.ts';
import type { JsonObject } from '../../../api/json/json-value.ts';
import { createRegistry } from '../../../api/resources/registry.ts';
import { DIALECTS } from '../../../config/dialect.ts';
import { NOTHING_SHOWN } from '../../../transport/outgoing/connection-file.ts';
import { type MakeWebhookClient, ServiceTooLate } from '../../../transport/outgoing/service-client.ts';
import { fakeContext } from '../controllers/fake-context.ts';
import { VirtualTime } from '../controllers/virtual-time.ts';

interface Question {
  readonly request: { readonly uid: string; readonly objects: readonly JsonObject[] };
}

/** Conversions of definitions whose webhook hangs where they are called `hangs`, and how often each was asked. */
function world() {
  const time = new VirtualTime();
  const asked = { hangs: 0, works: 0 };
  const webhookClient: MakeWebhookClient = ({ connection: { url } }) => ({
    post: () => Promise.reject(new Error('not asked so')),
    postUnread: (json, deadlineMs) => {
      if (url.includes('hangs')) {
        asked.hangs++;
        return new Promise((_, reject) => time.timers.after(deadlineMs, () => reject(new ServiceTooLate())));
      }
      asked.works++;
      const { uid, objects } = (JSON.parse(json) as Question).request;
      const convertedObjects = objects.map((object) => ({ ...object, apiVersion: 'example.com/v2' }));
      const response = { uid, result: { status: 'Success' }, convertedObjects };
      const answer = { kind: 'ConversionReview', apiVersion: 'apiextensions.orch.io/v1', response };
      return Promise.resolve(() => answer);
    },
    retire: () => {},
  });
  const context = fakeContext(time, () => Promise.reject(new Error('nobody is asked')));
  const conversion = new WebhookConversion({ context, requestTimeoutMs: 60_000 } as unknown as StoreReader, {
    registry: createRegistry(DIALECTS.orch),
    callsEndpoints: false,
    shownToServices: NOTHING_SHOWN,
    webhookClient,
  });
  const converted = (name: 'hangs' | 'works'): Promise<string> => {
    const webhook = { client: { url: `https://hook/${name}` }, reviewVersions: ['v1'] };
    const custom = {
      definition: { name: `${name}.example.com`, webhook },
      form: { apiVersion: 'example.com/v2' },
      isConvertedOutside: () => true,
    } as unknown as CustomType;
    const object = { apiVersion: 'example.com/v1', kind: 'Thing', metadata: { name: 'a' } };
    return conversion.ask(custom, [object]).then(
      ([one]) => String(one!.apiVersion),
      (error: Error) => error.message,
    );
  };
  return { time, asked, converted };
}

test('a webhook that hangs holds up the conversions of its own definition, and no others', async (t) => {
  const { time, asked, converted } = world();
  const late = Array.from({ length: 40 }, () => converted('hangs'));
  await time.settle();
  t.is(asked.hangs, 32);
  t.is(await converted('works'), 'example.com/v2');
  await time.advance(30_000);
  t.is(asked.hangs, 40);
  await time.advance(30_000);
  for (const said of await Promise.all(late)) t.regex(said, /context deadline exceeded$/);
});

test('a conversion that has waited for longer than its request may take is not asked for', async (t) => {
  const { time, asked, converted } = world();
  const late = Array.from({ length: 100 }, () => converted('hangs'));
  for (let turn = 0; turn < 2; turn++) await time.advance(30_000);
  for (const said of await Promise.all(late)) t.regex(said, /context deadline exceeded$/);
  t.is(asked.hangs, 64, 'in two turns of thirty seconds');
});
