// Feature gates of lists, on servers without them.
import test from 'ava';
import { startServer } from '../server/server-process.ts';

const NAMESPACES = '/api/v1/namespaces';

test('without APIListChunking a list comes whole, and without RemainingItemCount a part does not say what is left', async (t) => {
  const [whole, silent] = await Promise.all(
    ['APIListChunking=false', 'RemainingItemCount=false'].map((gate) =>
      startServer(t, { args: ['--feature-gates', gate] }),
    ),
  );
  const all = (await whole!.client.get(`${NAMESPACES}?limit=1`)).json as { items: unknown[]; metadata: object };
  t.true(all.items.length > 1);
  t.false('continue' in all.metadata || 'remainingItemCount' in all.metadata);
  const part = (await silent!.client.get(`${NAMESPACES}?limit=1`)).json as { items: unknown[]; metadata: object };
  t.is(part.items.length, 1);
  t.true('continue' in part.metadata);
  t.false('remainingItemCount' in part.metadata);
});
