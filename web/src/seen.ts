// Waiting: for a while, and for somebody who looks at the page.

export const pause = (ms: number) => new Promise<void>((done) => setTimeout(done, ms));

/** Waits until the page is seen, or until what waits for it is given up. */
export function seen(signal: AbortSignal): Promise<void> {
  return new Promise((done) => {
    const look = () => {
      if (!document.hidden || signal.aborted) {
        document.removeEventListener("visibilitychange", look);
        signal.removeEventListener("abort", look);
        done();
      }
    };
    document.addEventListener("visibilitychange", look);
    signal.addEventListener("abort", look);
    look();
  });
}
