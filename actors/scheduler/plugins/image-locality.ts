// ImageLocality: prefers nodes that have the pod's images already, the larger ones for more; an image that few nodes have
// counts for less, or all its pods would end on those.
import { SCORE_MAX, type ScorePlugin } from '../framework/framework.ts';

const MIB = 1024 * 1024;
/** Less than this is loaded in no time. */
const LEAST_BYTES = 23 * MIB;
/** More than this for each container changes nothing. */
const MOST_BYTES_PER_CONTAINER = 1000 * MIB;

export const imageLocality: ScorePlugin = {
  name: 'ImageLocality',
  prepareScore({ images }, { nodes, imageNodes }) {
    const wanted = images.map(imageName).filter((name) => imageNodes.has(name));
    if (wanted.length === 0) return null;
    const shares = wanted.map((name) => ({ name, share: imageNodes.get(name)! / nodes.length }));
    const most = MOST_BYTES_PER_CONTAINER * images.length;
    return {
      normalize: 'none',
      score(node) {
        let bytes = 0;
        for (const { name, share } of shares) bytes += Math.trunc((node.images.get(name) ?? 0) * share);
        const counted = Math.min(Math.max(bytes, LEAST_BYTES), most);
        return Math.trunc((SCORE_MAX * (counted - LEAST_BYTES)) / (most - LEAST_BYTES));
      },
    };
  },
};

/** Without a tag or digest an image means its latest. */
function imageName(image: string): string {
  return image.lastIndexOf(':') <= image.lastIndexOf('/') ? `${image}:latest` : image;
}
