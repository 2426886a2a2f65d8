//! Plots from any data: well-formed, finite, the same every time, and small.

use std::fmt::Write as _;

use gleaner_report::{Axis, HeatCell, HeatMap, Plot, PlotGrid, Series, Style, Svg};
use roxmltree::{Document, Node};

const STYLES: [Style; 5] = [Style::Line, Style::Marked, Style::Step, Style::Points, Style::Bars];

/// Parses a drawing and checks what must hold for every one.
fn check(svg: &Svg) {
    let text = svg.as_str();
    let document = Document::parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let root = document.root_element();
    assert_eq!(root.tag_name().name(), "svg");
    assert!(root.children().any(|node| node.has_tag_name((NS, "title"))));
    assert!(root.children().any(|node| node.has_tag_name((NS, "desc"))));
    for node in root.descendants().filter(Node::is_element) {
        for attribute in node.attributes() {
            let value = attribute.value();
            assert!(!value.contains("NaN") && !value.contains("inf"), "{}={value}", attribute.name());
        }
    }
}

const NS: &str = "http://www.w3.org/2000/svg";

fn one(y: Axis, style: Style, points: &[(f64, f64)]) -> Plot {
    Plot::new("a plot", Axis::linear("time (s)"), y).with(Series::new("a", style, points.iter().copied()))
}

fn marks(svg: &Svg, tag: &str) -> usize {
    let document = Document::parse(svg.as_str()).expect("well-formed");
    document.descendants().filter(|node| node.has_tag_name((NS, tag))).count()
}

#[test]
fn any_data_makes_a_well_formed_drawing() {
    let odd =
        [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, f64::MAX, f64::MIN, f64::MIN_POSITIVE, 5e-324, -0.0];
    let all_odd: Vec<(f64, f64)> = odd.iter().flat_map(|x| odd.map(|y| (*x, y))).collect();
    let data: [&[(f64, f64)]; 6] = [
        &[],
        &[(1.0, 2.0)],
        &[(0.0, 5.0), (1.0, 5.0), (2.0, 5.0)],
        &[(3.0, 1.0), (3.0, 2.0)],
        &[(0.0, 1.0), (f64::NAN, 2.0), (2.0, f64::INFINITY), (3.0, -4.0)],
        &all_odd,
    ];
    for points in data {
        for style in STYLES {
            for y in [
                Axis::linear("tasks"),
                Axis::log("tasks"),
                Axis::linear("tasks").range(0.0, 1.0),
                Axis::log("tasks").range(-1.0, 1.0),
                Axis::linear("tasks").range(2.0, f64::NAN),
                Axis::categories("places", ["here", "there"]),
            ] {
                let bounds = points.iter().map(|(x, y)| (y - x, y + x));
                let plot = Plot::new("odd", Axis::linear(""), y)
                    .with(Series::new("a", style, points.iter().copied()).bounds(bounds));
                check(&plot.svg());
                check(&PlotGrid::new("odd", 2, vec![plot.clone(), plot]).svg());
            }
        }
    }
}

#[test]
fn no_panels_and_no_names_are_drawn_too() {
    check(&PlotGrid::new("", 0, Vec::new()).svg());
    check(&Plot::new("", Axis::categories("", Vec::<String>::new()), Axis::linear("")).svg());
}

#[test]
fn what_cannot_be_drawn_is_counted() {
    let svg =
        one(Axis::linear("y"), Style::Points, &[(0.0, 1.0), (1.0, f64::NAN), (f64::INFINITY, 2.0)]).svg();
    assert!(svg.as_str().contains("2 points that cannot be drawn are left out."));
    assert_eq!(marks(&svg, "circle"), 2, "a rim and a marker");
    assert!(one(Axis::linear("y"), Style::Line, &[]).svg().as_str().contains(">no data<"));
}

#[test]
fn names_and_labels_are_escaped() {
    let nasty = "</text><script>alert('x')</script>\u{1b}&";
    let plot = Plot::new(nasty, Axis::categories(nasty, [nasty]), Axis::linear(nasty))
        .with(Series::new(nasty, Style::Bars, [(0.0, 1.0)]))
        .with(Series::new("b", Style::Line, [(0.0, 1.0)]))
        .note(nasty);
    for svg in [plot.svg(), PlotGrid::new(nasty, 1, vec![plot]).svg()] {
        check(&svg);
        assert!(!svg.as_str().contains("<script"));
        assert_eq!(marks(&svg, "script"), 0);
    }
}

#[test]
fn markers_stand_at_the_bars_before_them() {
    let sizes = Axis::categories("peers", ["1", "10", "100"]);
    let pairs = [("low", 2.0), ("high", 4.0), ("mixed", 6.0)];
    let plot = pairs.iter().fold(Plot::new("bars", sizes, Axis::linear("gain (%)")), |plot, (name, gain)| {
        let points = [0.0, 1.0, 2.0].map(|x| (x, *gain));
        let bars = Series::new(*name, Style::Bars, points).bounds(points.map(|(_, y)| (y - 1.0, y + 1.0)));
        plot.with(bars).with(Series::new(format!("{name}, the paper"), Style::Points, points))
    });
    let svg = plot.svg();
    check(&svg);
    let document = Document::parse(svg.as_str()).expect("well-formed");
    let all = |tag: &'static str, slot: usize| {
        let class = format!("f-{slot}");
        let nodes = document.descendants().filter(move |node| node.has_tag_name((NS, tag)));
        nodes.filter(move |node| node.attribute("class") == Some(class.as_str())).collect::<Vec<_>>()
    };
    let number = |node: &Node<'_, '_>, name: &str| {
        node.attribute(name).expect("it has a place").parse::<f64>().expect("a number")
    };
    // Bars and markers take turns with the looks; the legend has the first of each.
    for pair in 0..3 {
        let bars = all("rect", 2 * pair);
        let markers = all("polygon", 2 * pair + 1);
        assert_eq!((bars.len(), markers.len()), (4, 4), "{svg}");
        for (bar, marker) in bars.iter().zip(&markers).skip(1) {
            let corners = marker.attribute("points").expect("a polygon has corners").split(' ');
            let xs: Vec<f64> = corners.filter_map(|corner| corner.split(',').next()?.parse().ok()).collect();
            let middle = xs.iter().sum::<f64>() / xs.len() as f64;
            let (left, wide) = (number(bar, "x"), number(bar, "width"));
            assert!((left..left + wide).contains(&middle), "{middle} is not in {left} to {}", left + wide);
        }
    }
}

#[test]
fn the_same_input_gives_the_same_bytes() {
    let points: Vec<(f64, f64)> = (0..9_000).map(|i| (f64::from(i), f64::from(i * 7_919 % 1_000))).collect();
    let draw = || one(Axis::linear("y"), Style::Step, &points).svg();
    assert_eq!(draw(), draw());
}

#[test]
fn a_million_rows_make_a_small_file_with_the_peak_in_it() {
    let mut points: Vec<(f64, f64)> = (0..1_000_000).map(|i| (f64::from(i), f64::from(i % 50))).collect();
    points[123_456].1 = 1_000.0;
    for style in STYLES {
        let svg = one(Axis::linear("y"), style, &points).svg();
        assert!(svg.as_str().len() < 6_000_000, "{style:?}: {}", svg.as_str().len());
        check(&svg);
    }
    let step = one(Axis::linear("y"), Style::Step, &points).svg();
    assert!(step.as_str().len() < 100_000, "{}", step.as_str().len());
    let curve = step.as_str().lines().find(|line| line.contains("class=\"s-0\"")).expect("a curve");
    let path = curve.split('"').nth(1).expect("a path");
    let heights =
        path.split('V').skip(1).filter_map(|part| part.split(['H', 'L']).next()?.parse::<f64>().ok());
    let mut heights: Vec<f64> = heights.collect();
    heights.sort_by(f64::total_cmp);
    // The peak is 20 times as high as all else.
    assert!(heights[1] - heights[0] > 250.0, "{:?}", &heights[..2]);
}

#[test]
fn a_name_has_one_look_in_all_panels() {
    let panel = |names: [&str; 2]| {
        names.iter().fold(Plot::new("", Axis::linear("x"), Axis::linear("y")), |plot, name| {
            plot.with(Series::new(*name, Style::Line, [(0.0, 1.0), (1.0, 2.0)]))
        })
    };
    let svg = PlotGrid::new("", 2, vec![panel(["a", "b"]), panel(["b", "c"])]).svg();
    let uses = |slot: usize| svg.as_str().matches(&format!("class=\"s-{slot}\"")).count();
    assert_eq!([uses(0), uses(1), uses(2), uses(3)], [2, 3, 2, 0], "one in the legend, one in each panel");
}

#[test]
fn named_points_say_their_names_and_no_label_covers_another() {
    let named = |index: u32| {
        // Four lie on one place, and many are near each other.
        let at = if index < 4 { 3 } else { index };
        (format!("site{index}"), (f64::from(at * at % 13) * 0.1, f64::from(at % 5) * 0.2))
    };
    let svg = Plot::new("map", Axis::linear("x"), Axis::linear("y"))
        .with(Series::named("ideal", "", [("origin".to_owned(), (0.0, 0.0))]))
        .with(Series::named("others", "sites", (0..17).map(named)))
        .with(Series::named("chosen", "sites", (17..20).map(named)))
        .svg();
    check(&svg);
    let document = Document::parse(svg.as_str()).expect("well-formed");
    let titles: Vec<&str> = document
        .descendants()
        .filter(|node| node.has_tag_name((NS, "g")))
        .filter_map(|group| group.first_element_child()?.text())
        .collect();
    for name in (0..20).map(|index| format!("site{index}")).chain(["origin".to_owned()]) {
        let says = |title: &&&str| title.split([',', ':', '\n']).any(|part| part.trim() == name);
        assert!(titles.iter().find(says).is_some(), "{name}: {titles:?}");
    }
    let is_label = |node: &Node<'_, '_>| {
        node.has_tag_name((NS, "text"))
            && ["f-0", "f-1", "f-2"].contains(&node.attribute("class").unwrap_or(""))
    };
    let room = |node: Node<'_, '_>| {
        let number =
            |name: &str| node.attribute(name).expect("it has a place").parse::<f64>().expect("a number");
        let (text, x, y) = (node.text().expect("a label"), number("x"), number("y"));
        let wide = 6.0 * text.len() as f64;
        let left = match node.attribute("text-anchor") {
            Some("end") => x - wide,
            Some("middle") => x - wide / 2.0,
            _ => x,
        };
        (text.to_owned(), (left, left + wide), (y - 6.0, y + 6.0))
    };
    let labels: Vec<_> = document.descendants().filter(is_label).map(room).collect();
    assert!(labels.iter().any(|(text, ..)| text == "4 sites"), "{labels:?}");
    assert!(labels.len() > 10, "{labels:?}");
    for (at, (one, x, y)) in labels.iter().enumerate() {
        for (other, across, down) in &labels[..at] {
            let apart = x.1 <= across.0 || across.1 <= x.0 || y.1 <= down.0 || down.1 <= y.0;
            assert!(apart, "{one} covers {other}");
        }
    }
}

#[test]
fn a_tiny_plot_has_this_structure() {
    let plot = Plot::new("Completions", Axis::linear("time (s)"), Axis::linear("tasks"))
        .with(Series::new("greedy", Style::Step, [(0.0, 0.0), (1.5, 1.0), (4.0, 2.0)]))
        .with(Series::new("social", Style::Marked, [(0.0, 1.0), (4.0, 2.0)]).bounds([(0.5, 1.5)]));
    insta::assert_snapshot!(outline(&plot.svg()));
}

/// The elements in order, with texts and shapes but without looks.
fn outline(svg: &Svg) -> String {
    let document = Document::parse(svg.as_str()).expect("well-formed");
    let mut lines = String::new();
    for node in document.root_element().children().filter(Node::is_element) {
        let shape = ["d", "points"].iter().find_map(|name| node.attribute(*name)).unwrap_or_default();
        let class = node.attribute("class").unwrap_or_default();
        let text = node.text().unwrap_or_default();
        let line = format!("{} {class} {shape}{text}", node.tag_name().name());
        writeln!(lines, "{}", line.trim_end()).expect("writing to a string does not fail");
    }
    lines
}

#[test]
fn a_heat_map_says_each_value_in_figures_too_and_takes_any_value() {
    let cell = |value: f64, framed| HeatCell { value, lines: vec![format!("<{value}>")], framed };
    let odd = [f64::NAN, f64::INFINITY, f64::MAX, f64::MIN, 0.0, 1.0];
    for all in odd.iter().flat_map(|one| odd.iter().map(move |other| [*one, *other])) {
        let row = all.map(|value| cell(value, value > 0.0)).to_vec();
        let map =
            HeatMap::new("a & b", ("α", vec!["0".into(), "1".into()]), ("β", vec!["<0>".into()]), vec![row]);
        check(&map.note("what is framed is best").svg());
    }
    let none = HeatMap::new("", ("", Vec::new()), ("", Vec::new()), Vec::new());
    check(&none.svg());
    let row = vec![cell(1.0, true), cell(2.0, false), cell(f64::NAN, false)];
    let names = ["a", "b", "c"].map(str::to_owned).to_vec();
    let svg = HeatMap::new("t", ("x", names), ("y", vec!["r".into()]), vec![row]).svg();
    assert!(svg.as_str().contains("&lt;1&gt;") && svg.as_str().contains("&lt;2&gt;"), "{svg}");
    assert_eq!(marks(&svg, "path"), 1, "one has a frame");
}
