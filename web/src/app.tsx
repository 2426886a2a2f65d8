// The frame around all views: who is signed in, where one may go, and what just happened.
import { useEffect, useRef, useState } from "preact/hooks";
import { ask, isToken, problemOf, Refused, token, tokenIn, type Schemas } from "./api.ts";
import { follow, unfollow, useConnected } from "./events.ts";
import { onSignOut } from "./live.ts";
import { keepSoon, keptNumber, nameIn, numberIn, useRoute } from "./route.ts";
import { saved } from "./saved.ts";
import { pause, seen } from "./seen.ts";
import { clock, plain } from "./text.ts";
import { JobPage } from "./views/job.tsx";
import { MachinePage, Machines } from "./views/machines.tsx";
import { Overview } from "./views/overview.tsx";
import { Stream } from "./views/stream.tsx";
import { TaskPage } from "./views/task.tsx";
import { Use } from "./views/use.tsx";
import { WhatIf } from "./views/whatif.tsx";

export type Me = Schemas["Me"];

export interface Frame {
  me: Me;
  /** Whether they may give orders at all. */
  mayAct: boolean;
  isAdmin: boolean;
  tell: (news: string) => void;
}

const VIEWS: [string, string][] = [
  ["/", "Grid"],
  ["/machines", "Machines"],
  ["/stream", "Task stream"],
  ["/use", "Use"],
  ["/what-if", "What if"],
];

/** Where nobody answers who one is, it is asked again after so long. */
const AGAIN_MS = 2_000;

export function App() {
  const [me, setMe] = useState<Me>();
  const [isSignedIn, setSignedIn] = useState(saved !== null || token.find() !== null);
  const [problem, setProblem] = useState<string>();
  const signOut = (why?: string) => {
    setProblem(why);
    token.forget();
    unfollow();
    setMe(undefined);
    setSignedIn(false);
  };
  onSignOut(signOut);
  useEffect(() => {
    if (!isSignedIn) {
      return;
    }
    const stop = new AbortController();
    const begin = async () => {
      for (;;) {
        await seen(stop.signal);
        try {
          setMe(await ask<Me>("/api/v1/me", { signal: stop.signal }));
          setProblem(undefined);
          void follow();
          return;
        } catch (error) {
          if (stop.signal.aborted) {
            return;
          }
          // Another token may be let in.
          if (error instanceof Refused && [401, 403].includes(error.status)) {
            signOut(error.message);
            return;
          }
          setProblem(problemOf(error));
          await pause(AGAIN_MS);
        }
      }
    };
    void begin();
    return () => stop.abort();
  }, [isSignedIn]);
  if (!isSignedIn) {
    return <SignIn problem={problem} done={() => setSignedIn(true)} />;
  }
  if (!me) {
    return (
      <main>
        <p class="muted" role="status">
          {problem ?? "…"}
        </p>
      </main>
    );
  }
  return <Signed me={me} signOut={() => signOut()} />;
}

function SignIn({ problem, done }: { problem: string | undefined; done: () => void }) {
  const [typed, setTyped] = useState("");
  const [isNoToken, setNoToken] = useState(false);
  const trouble = isNoToken ? "This is no token: a user’s begins with glu_, and has letters, digits and a dot only." : problem;
  return (
    <main class="sign-in">
      <h1>Gleaner</h1>
      <p>
        This is the coordinator of a grid: it runs programs on machines that others leave idle. Its users submit with{" "}
        <code>gleaner submit -- PROGRAM</code>.
      </p>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          const found = tokenIn(typed);
          setNoToken(!isToken(found));
          if (isToken(found)) {
            token.set(found);
            done();
          }
        }}
      >
        <label for="token">
          Your token, or the line that <code>gleaner token user NAME</code> printed. The administrator’s lies in the
          coordinator’s folder. It is kept in this tab only.
        </label>
        <input
          id="token"
          type="password"
          autocomplete="off"
          autofocus
          placeholder="glu_…"
          required
          value={typed}
          onInput={(event) => setTyped(event.currentTarget.value)}
        />
        <button class="strong">Sign in</button>
      </form>
      {trouble && (
        <p class="trouble" role="alert">
          {plain(trouble)}
        </p>
      )}
    </main>
  );
}

/** What the browser's tab and history call a view. */
function titleOf(route: string): string {
  const [, first = "", name, third, number] = route.split("/");
  if (first === "jobs" && name) {
    return third === "tasks" && number ? `Task ${plain(name)}/${plain(number)}` : `Job ${plain(name)}`;
  }
  if (first === "machines" && name) {
    return plain(nameIn(name));
  }
  return VIEWS.find(([path]) => path === `/${first}`)?.[1] ?? "The grid";
}

function Signed({ me, signOut }: { me: Me; signOut: () => void }) {
  const route = useRoute();
  const isConnected = useConnected();
  const [news, setNews] = useState("");
  const isFirst = useRef(true);
  useEffect(() => {
    // Another view is read from its beginning, by eye and by ear; one that one comes back to from where one was.
    const place = keptNumber("place");
    const stop = place > 0 ? scrollTo(place) : undefined;
    if (!isFirst.current) {
      if (place === 0) {
        window.scrollTo(0, 0);
      }
      document.getElementById("main")?.focus({ preventScroll: true });
    }
    isFirst.current = false;
    const scrolled = () => keepSoon("place", window.scrollY);
    window.addEventListener("scroll", scrolled, { passive: true });
    return () => {
      stop?.();
      window.removeEventListener("scroll", scrolled);
    };
  }, [route]);
  useEffect(() => {
    const timer = setTimeout(() => setNews(""), 8_000);
    return () => clearTimeout(timer);
  }, [news]);
  const frame: Frame = {
    me,
    mayAct: saved === null && me.role !== "reader",
    isAdmin: saved === null && me.role === "admin",
    tell: setNews,
  };
  const here = `/${route.split("/")[1] ?? ""}`;
  useEffect(() => {
    document.title = `${titleOf(route)} · Gleaner`;
  }, [route]);
  return (
    <>
      <a class="skip" href="#main" onClick={(event) => (event.preventDefault(), document.getElementById("main")?.focus())}>
        Skip to content
      </a>
      <header class="top">
        <a class="brand" href="#/">
          Gleaner
        </a>
        <nav aria-label="Views">
          {VIEWS.filter(([path]) => isOffered(path, me)).map(([path, name]) => (
            <a key={path} href={`#${path}`} aria-current={here === path || (path === "/" && here === "/jobs") ? "page" : undefined}>
              {name}
            </a>
          ))}
        </nav>
        <span class="who">
          {saved ? (
            <span>saved {clock(saved.at_s)}</span>
          ) : (
            <>
              <span class={isConnected ? "muted" : "lost"} role="status">
                {isConnected ? "live" : "reconnecting…"}
              </span>{" "}
              <span title={me.role}>{plain(me.user)}</span> <button onClick={signOut}>Sign out</button>
            </>
          )}
        </span>
      </header>
      <main id="main" tabIndex={-1}>
        <View route={route} frame={frame} />
      </main>
      <div class="news" role="status" aria-live="polite">
        {news && <p>{plain(news)}</p>}
      </div>
    </>
  );
}

/** So long it is waited for a view to be as long as it was. */
const PATIENCE_MS = 2_000;

/** Scrolls there as soon as there is something to be seen; what is returned gives it up. */
function scrollTo(place: number): () => void {
  const until = Date.now() + PATIENCE_MS;
  let frame = 0;
  const step = () => {
    const isThere = document.documentElement.scrollHeight >= place + window.innerHeight;
    if (isThere || Date.now() > until) {
      window.scrollTo(0, place);
    } else {
      frame = requestAnimationFrame(step);
    }
  };
  step();
  return () => cancelAnimationFrame(frame);
}

function isOffered(path: string, me: Me): boolean {
  if (saved) {
    return saved.route === "/stream" ? path !== "/what-if" : false;
  }
  return path !== "/what-if" || me.role !== "user";
}

function View({ route, frame }: { route: string; frame: Frame }) {
  const [, first, second, third, fourth] = route.split("/");
  switch (first) {
    case "jobs": {
      const [job, task] = [numberIn(second), numberIn(fourth)];
      if (!second) {
        return <Overview frame={frame} />;
      }
      if (job === undefined || (third === "tasks" && task === undefined)) {
        return <p class="trouble">There is no {job === undefined ? "job" : "task"} “{plain(nameIn((job === undefined ? second : fourth) ?? ""))}”.</p>;
      }
      return third === "tasks" ? (
        <TaskPage key={route} job={job} task={task!} frame={frame} />
      ) : (
        <JobPage key={route} job={job} frame={frame} />
      );
    }
    case "machines":
      return second ? <MachinePage key={route} name={nameIn(second)} frame={frame} /> : <Machines frame={frame} />;
    case "stream":
      return <Stream frame={frame} />;
    case "use":
      return <Use />;
    case "what-if":
      return <WhatIf />;
    default:
      return <Overview frame={frame} />;
  }
}
