// The pieces that the pictures are made of, as SVG text.
#pragma once

#include <cstdio>
#include <string>

namespace cudaopt::bench {

// Colours that differ, in the order of their use.
constexpr const char *colours[] = {"#c0392b", "#2471a3", "#1e8449", "#b9770e", "#7d3c98", "#566573"};

inline std::string number(double value) {
    char text[32];
    std::snprintf(text, sizeof text, "%.1f", value);
    return text;
}

inline std::string escaped(const std::string &text) {
    std::string result;
    for (const char c : text) result += c == '&' ? "&amp;" : c == '<' ? "&lt;" : c == '>' ? "&gt;" : std::string(1, c);
    return result;
}

inline std::string line(double x1, double y1, double x2, double y2, const std::string &stroke, double thickness) {
    return "<line x1=\"" + number(x1) + "\" y1=\"" + number(y1) + "\" x2=\"" + number(x2) + "\" y2=\"" + number(y2) +
           "\" stroke=\"" + stroke + "\" stroke-width=\"" + number(thickness) + "\"/>\n";
}

inline std::string rectangle(double x, double y, double width, double height, const std::string &fill) {
    return "<rect x=\"" + number(x) + "\" y=\"" + number(y) + "\" width=\"" + number(width) + "\" height=\"" +
           number(height) + "\" fill=\"" + fill + "\"/>\n";
}

inline std::string words(double x, double y, const std::string &style, const std::string &content) {
    return "<text x=\"" + number(x) + "\" y=\"" + number(y) + "\" " + style + ">" + content + "</text>\n";
}

// Everything before the picture's own pieces: its size, a white ground, the title over the subtitle.
inline std::string beginning(double width, double height, double left, const std::string &title,
                             const std::string &subtitle) {
    return "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" + number(width) + "\" height=\"" + number(height) +
           "\" font-family=\"Helvetica, Arial, sans-serif\" font-size=\"13\" fill=\"#333\">\n"
           "<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n" +
           words(left, 34, "font-size=\"18\" font-weight=\"bold\" fill=\"#111\"", escaped(title)) +
           words(left, 58, "fill=\"#666\"", escaped(subtitle));
}

} // namespace cudaopt::bench
